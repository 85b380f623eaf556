"""Formats that grades are taken to, each made from one record."""
