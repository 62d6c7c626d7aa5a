# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The words that `make lint` looks for."""

from pathlib import Path

from tools import vocabulary

ROOT = Path(__file__).resolve().parents[2]


def test_command__names_file_line_word_and_replacement(tmp_path, capsys, monkeypatch):
    (tmp_path / 'page.md').write_text('one\ntwo farewells\n')
    monkeypatch.setattr(vocabulary, 'ROOT', tmp_path)
    assert vocabulary.main(['page.md']) == 1
    assert capsys.readouterr().out == "page.md:2: 'farewell', expected shutdown, ramp down\n"
