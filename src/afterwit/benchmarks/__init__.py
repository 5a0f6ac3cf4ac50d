"""Scored jobs with known answers or real outcomes, independent of one another."""
