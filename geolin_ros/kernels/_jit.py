# SPDX-FileCopyrightText: 2026 geolin_ros contributors
# SPDX-License-Identifier: Apache-2.0
"""The one decorator for compiled code: cached by content, GIL-free, IEEE-exact."""

import contextlib
import functools
import hashlib
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import sigutils
from numba.core.caching import FunctionCache

F = TypeVar('F', bound=Callable[..., Any])
_config: Any = numba.config


_LAYER = Path(__file__).parent
_IMPORT = re.compile(r'^from geolin_ros\.kernels((?:\.\w+)*) import (\([^)]*\)|.*)', re.MULTILINE)


def _imported(source: str) -> set[Path]:
    """Return the files of this layer that ``source`` imports."""
    files = set()
    for dots, names in _IMPORT.findall(source):
        module = _LAYER.joinpath(*dots.split('.'))
        if module.with_suffix('.py').exists():
            files.add(module.with_suffix('.py'))
        else:
            files |= {module / f'{name}.py' for name in re.findall(r'(\w+)(?: as \w+)?', names)}
    return files


@functools.cache
def _fingerprint(file: Path) -> str:
    """Return a hash of a module and of all it imports: Numba alone sees no changed helper."""
    source = file.read_text(encoding='utf-8')
    versions = f'{numba.__version__} boundscheck={_config.BOUNDSCHECK}'
    helpers = [_fingerprint(helper) for helper in sorted(_imported(source))]
    return hashlib.sha256('\n'.join([versions, source, *helpers]).encode()).hexdigest()[:16]


def _candidate_folders() -> Iterator[Path]:
    for variable in ('NUMBA_CACHE_DIR', 'XDG_CACHE_HOME'):
        if os.environ.get(variable):
            yield Path(os.environ[variable]) / 'geolin_ros'
    home = os.environ.get('HOME') or os.environ.get('USERPROFILE')
    if home:
        yield Path(home) / '.cache' / 'geolin_ros'
    yield Path(tempfile.gettempdir()) / f'geolin_ros-{os.getuid()}'


def _cache_folder() -> Path | None:
    """Return the first folder that can hold the cache, or None: compile in memory then."""
    for folder in _candidate_folders():
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = folder.stat()
            # cached machine code is trusted as is: only this user may write there
            is_private = status.st_uid == os.getuid() and not status.st_mode & 0o022
            if is_private and os.access(folder, os.W_OK):
                return folder
        except OSError:
            continue
    return None


CACHE_FOLDER = _cache_folder()


def lean_kernel(function: F) -> F:
    """Compile a kernel that keeps no count of references to its arrays.

    Such a kernel cannot allocate: it would not compile. The counts are atomic operations, which
    cost the fast linearization a quarter of its time.
    """
    return kernel(function, _nrt=False)


def inlined_kernel(function: F) -> F:
    """Compile a lean kernel into those that call it.

    For functions of many vectors, which a call would pass through memory.
    """
    return kernel(function, _nrt=False, forceinline=True)


class _Cache(FunctionCache):
    """Numba's cache on a disk that may be full or damaged: that costs time, not the process."""

    def load_overload(self, *arguments: Any) -> Any:
        """Return compiled code, or None: then it is compiled anew."""
        try:
            return super().load_overload(*arguments)
        except Exception:  # whatever unpickling a damaged file ends in
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Save compiled code for the next process, if it can read it and there is room."""
        if any(self._is_of_others(kind) for kind in sigutils.normalize_signature(signature)[0]):
            return
        try:
            super().save_overload(signature, data)
        except OSError as error:
            _warn(error.strerror)
        except Exception:  # the index was damaged meanwhile: the next process begins it anew
            with contextlib.suppress(OSError):
                self.flush()

    def _is_of_others(self, kind: Any) -> bool:
        """Return whether a tuple is of a package that programs with this kernel may not have."""
        tuple_class = getattr(kind, 'instance_class', self._py_func)
        package, own = (of.__module__.split('.')[0] for of in (tuple_class, self._py_func))
        return package not in (own, __name__.split('.')[0])


@functools.cache  # once: Numba makes Python forget what it has said
def _warn(reason: str) -> None:
    warnings.warn(
        f'compiled code cannot be kept in {CACHE_FOLDER}: {reason}; every start compiles anew '
        'until there is room',
        RuntimeWarning,
        stacklevel=3,
    )


def kernel(function: F, **options: Any) -> F:
    """Compile ``function`` on first use; leave Numba's global cache setting as it was."""
    dispatcher = numba.njit(error_model='numpy', nogil=True, **options)(function)
    if CACHE_FOLDER is None:
        return cast(F, dispatcher)
    folder = CACHE_FOLDER / _fingerprint(Path(function.__code__.co_filename))
    saved, _config.CACHE_DIR = _config.CACHE_DIR, str(folder)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        dispatcher._cache = _Cache(function)
    except OSError:
        pass  # no room even for a folder
    finally:
        _config.CACHE_DIR = saved
    return cast(F, dispatcher)


def machine_code(kernel: Any, arguments: tuple[Any, ...]) -> Callable[..., int]:
    """Return the machine code of a kernel for arguments of these types.

    Called itself, a kernel would look at the types first, for up to 0.4 us. Numba takes a lock to
    compile, and to answer whether something is compiled: one that has run before is found without,
    so that nobody waits for what another thread compiles.
    """
    types = tuple(map(numba.typeof, arguments))
    known = kernel.overloads.get(types)
    code = kernel.compile(types) if known is None else known.entry_point
    return cast(Callable[..., int], code)
