"""What a page says to machines about its item: JSON-LD, microdata, RDFa, Open Graph, the state that its scripts start
from. No one sees it, and it may differ from what is shown: a sense beside text and screen."""
