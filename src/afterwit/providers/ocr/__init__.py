"""Readers of text in pictures: rapidocr with the models of its wheel, Tesseract, a vision model behind an endpoint."""
