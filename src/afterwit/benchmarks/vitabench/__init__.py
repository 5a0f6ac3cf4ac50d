"""VitaBench: tasks of daily life (delivery, in-store) judged by rubrics over the whole run (He et al. 2025)."""
