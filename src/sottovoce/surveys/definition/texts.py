"""Texts of a definition, in all languages of its survey, and words that need not be written."""
# ruff: noqa: RUF001  # words of other scripts have letters that look like Latin ones

import re
from collections.abc import Mapping, Sequence

from sottovoce.surveys.definition.questions import PartialTexts, Texts
from sottovoce.surveys.definition.yaml_reader import YamlValue

TAG = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
"""Language tags of browsers, such as en, pt-BR or zh-Hant."""

RIGHT_TO_LEFT = ("ar", "fa", "he", "ur", "ps", "sd", "ug", "yi", "ckb", "dv")

BUILT_IN = {
    "ar": ("لا", "نعم", "أفضل عدم الإجابة"),
    "bg": ("Не", "Да", "Предпочитам да не отговоря"),
    "ca": ("No", "Sí", "Prefereixo no respondre"),
    "cs": ("Ne", "Ano", "Nechci odpovídat"),
    "da": ("Nej", "Ja", "Ønsker ikke at svare"),
    "de": ("Nein", "Ja", "Möchte ich nicht sagen"),
    "el": ("Όχι", "Ναι", "Προτιμώ να μην απαντήσω"),
    "en": ("No", "Yes", "Prefer not to say"),
    "es": ("No", "Sí", "Prefiero no responder"),
    "fa": ("خیر", "بله", "ترجیح می‌دهم پاسخ ندهم"),
    "fi": ("Ei", "Kyllä", "En halua vastata"),
    "fr": ("Non", "Oui", "Je préfère ne pas répondre"),
    "he": ("לא", "כן", "מעדיף/ה לא לענות"),
    "hi": ("नहीं", "हाँ", "उत्तर नहीं देना चाहते"),
    "hr": ("Ne", "Da", "Ne želim odgovoriti"),
    "hu": ("Nem", "Igen", "Nem szeretnék válaszolni"),
    "id": ("Tidak", "Ya", "Memilih tidak menjawab"),
    "it": ("No", "Sì", "Preferisco non rispondere"),
    "ja": ("いいえ", "はい", "回答しない"),
    "ko": ("아니요", "예", "응답하지 않음"),
    "nb": ("Nei", "Ja", "Ønsker ikke å svare"),
    "nl": ("Nee", "Ja", "Zeg ik liever niet"),
    "pl": ("Nie", "Tak", "Wolę nie odpowiadać"),
    "pt": ("Não", "Sim", "Prefiro não responder"),
    "ro": ("Nu", "Da", "Prefer să nu răspund"),
    "ru": ("Нет", "Да", "Предпочитаю не отвечать"),
    "sk": ("Nie", "Áno", "Nechcem odpovedať"),
    "sl": ("Ne", "Da", "Ne želim odgovoriti"),
    "sv": ("Nej", "Ja", "Vill inte svara"),
    "tr": ("Hayır", "Evet", "Cevap vermek istemiyorum"),
    "uk": ("Ні", "Так", "Волію не відповідати"),
    "vi": ("Không", "Có", "Không muốn trả lời"),
    "zh": ("否", "是", "不愿回答"),
}
"""No, yes, and the text for declining, by language."""

BUILT_IN_WORDS = ("no", "yes", "decline")


def read_languages(given: YamlValue | None) -> tuple[str, ...]:
    """Return the language tags; English if none are given."""
    if given is None:
        return ("en",)
    tags = tuple(entry.text() for entry in given.entries())
    if len(set(tags)) < len(tags) or not all(TAG.fullmatch(tag) for tag in tags):
        given.fail("must be different language tags, such as en or pt-BR")
    return tags


def read_texts(given: YamlValue, languages: tuple[str, ...]) -> Texts:
    """Return a text in the survey's languages; a text that is no mapping is in the first one.

    A language that is missing shows the text in the first language, which must be there.
    """
    if not isinstance(given.value, dict):
        return in_languages({languages[0]: given.text()}, languages)
    texts = given.fields(languages[:1], languages[1:])
    return in_languages({tag: texts[tag].text() for tag in languages if tag in texts}, languages)


def in_languages(texts: Mapping[str, str], languages: Sequence[str]) -> Texts:
    """Return texts that are looked up in the first language where they are missing."""
    return dict(texts) if len(texts) == len(languages) else PartialTexts(texts, languages[0])


def built_in(word: str, given: YamlValue, languages: tuple[str, ...]) -> Texts:
    """Return the words for `no`, `yes` or `decline` in the survey's languages, as far as they are built in.

    >>> dict(built_in("yes", YamlValue(None, "q", 1), ("de", "pt-BR", "tlh")))
    {'de': 'Ja', 'pt-BR': 'Sim'}
    """
    index = BUILT_IN_WORDS.index(word)
    known = {tag: BUILT_IN[primary(tag)][index] for tag in languages if primary(tag) in BUILT_IN}
    if languages[0] not in known:
        given.fail(f"must be spelt out in {languages[0]}: the words are built in for {', '.join(BUILT_IN)}")
    return in_languages(known, languages)


def primary(tag: str) -> str:
    """Return the language of a tag without its region or script."""
    return tag.partition("-")[0]


def formula(text: str, language: str) -> str:
    r"""Return signs and numbers isolated from right-to-left text, in which `<` would look like `>`.

    >>> formula("< 5", "en"), formula("< 5", "ar") == "\u2066< 5\u2069"
    ('< 5', True)
    """
    return f"\u2066{text}\u2069" if primary(language) in RIGHT_TO_LEFT else text
