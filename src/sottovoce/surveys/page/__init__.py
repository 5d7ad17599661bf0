"""The respondent's page: plain JavaScript modules, style, texts, and how the server hands them out."""
