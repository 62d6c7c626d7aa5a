# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The words that `make lint` looks for."""

from pathlib import Path

import pytest

from tools import vocabulary

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = [
    ('a robot that is held by its feet', 'held'),
    ('Breaches are kept', 'Breach'),
    ('no doubt about it', 'doubt'),
    ('the motions\n    that are left', 'motions\n    that are left'),
    ('prepared, not\n# run here', 'prepared, not\n# run'),
    ('what a foot felt', 'felt'),
    ('calls _told()', 'told'),
    ('One of so many linearizations', 'One of so many'),
    ('how to mend it', 'mend'),
    ('gains made\n# beforehand', 'made\n# beforehand'),
]


@pytest.mark.parametrize(('text', 'word'), SAMPLES)
def test_word_that_nobody_looks_for__is_found(text, word):
    (found,) = vocabulary.search('docs/page.md', f'\n{text}.\n')
    assert (found.line, found.text) == (2, word)


def test_words_of_the_field__pass():
    text = 'contact-constrained, a zero-order hold, households, failed checks, every N-th'
    assert list(vocabulary.search('docs/page.md', text)) == []


def test_replacement__needs_no_replacement():
    for word in vocabulary.WORDS:
        assert list(vocabulary.search('docs/page.md', word.instead)) == []


@pytest.mark.skipif(not (ROOT / '.git').exists(), reason='tracked files are those of a checkout')
def test_files__are_read_and_have_none_of_them(capsys):
    paths = vocabulary.tracked()
    assert {'README.md', 'docs/message.md', 'geolin_ros/errors.py', 'Makefile'} - set(paths) == {
        'Makefile'
    }
    assert vocabulary.main([]) == 0, capsys.readouterr().out


def test_command__names_file_line_word_and_replacement(tmp_path, capsys, monkeypatch):
    (tmp_path / 'page.md').write_text('one\ntwo farewells\n')
    monkeypatch.setattr(vocabulary, 'ROOT', tmp_path)
    assert vocabulary.main(['page.md']) == 1
    assert capsys.readouterr().out == "page.md:2: 'farewell', expected shutdown, ramp down\n"
