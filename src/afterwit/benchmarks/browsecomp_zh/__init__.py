"""BrowseComp-ZH: 289 questions for agents that browse the Chinese web (Zhou et al. 2025). The questions are published
encrypted so that no crawl finds them: they are read in memory and written nowhere."""
