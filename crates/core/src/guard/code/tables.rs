//! What Python and JavaScript have that does nothing but compute, read and print.

/// Names that code may have.
pub(super) struct Language {
    /// Words and functions.
    pub names: &'static str,
    /// Names behind a dot.
    pub members: &'static str,
    /// The objects whose members are among these. `None` if those of all objects are.
    pub objects: Option<&'static str>,
    /// Members that no object may be asked for: they lead to code.
    pub hidden: &'static str,
    /// Modules whose names are among the members, or do nothing else.
    pub modules: &'static str,
    /// Modules of which only some names are known.
    pub parts: &'static [Part],
    /// Names of a module that is not known. To name one runs the module itself, as a file of code.
    pub foreign: &'static str,
    /// Names that mean something else than what the code itself makes of them.
    pub refused: &'static str,
    /// The beginning of a comment.
    pub comment: &'static str,
}

/// A module of which only some names are known.
pub(super) struct Part {
    pub module: &'static str,
    pub names: &'static str,
    /// Members that do more if their object is of this module.
    pub without: &'static str,
}

/// Returns whether a list has a name.
pub(super) fn has(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == name)
}

impl Language {
    pub(super) fn is_js(&self) -> bool {
        self.comment == "//"
    }

    pub(super) fn part(&self, module: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.module == module)
    }

    /// Returns whether some names of a module, or of one within it, are known.
    pub(super) fn has_part(&self, module: &str) -> bool {
        let is_within = |part: &str| part.strip_prefix(module).is_some_and(|rest| rest.starts_with('.'));
        self.parts.iter().any(|part| part.module == module || is_within(part.module))
    }
}

const fn part(module: &'static str, names: &'static str) -> Part {
    Part { module, names, without: "" }
}

pub(super) const PYTHON: Language = Language {
    names: "and as assert break class continue def del elif else except False finally for if in is lambda None not or pass \
            raise return True try while with yield from match case print len sum min max sorted reversed range enumerate zip map \
            filter list dict set tuple str int float bool bytes repr round abs any all isinstance type ord chr hex bin oct \
            format next iter divmod pow hash id complex frozenset bytearray Exception ValueError KeyError TypeError \
            IndexError StopIteration SystemExit exit quit object super property staticmethod slice callable",
    members: "argv stdin stdout stderr read readline readlines write version version_info executable platform path exit \
              maxsize byteorder implementation name prefix flush major minor micro load loads dump dumps keys values items get \
              split rsplit splitlines strip lstrip rstrip join replace lower upper title startswith endswith find index \
              count append extend pop insert sort reverse copy update setdefault add union intersection difference format \
              encode decode isdigit isalpha isoformat strftime strptime now utcnow today fromisoformat fromtimestamp \
              timestamp total_seconds timedelta datetime date time perf_counter monotonic days seconds year month day sub \
              match search findall finditer fullmatch group groups compile escape IGNORECASE MULTILINE sqrt pi e floor ceil \
              log log2 log10 sin cos tan exp inf nan gcd mean median stdev Counter defaultdict OrderedDict namedtuple deque \
              most_common chain product combinations permutations groupby islice choice randint random shuffle seed uniform \
              sample b64encode b64decode urlsafe_b64encode hexdigest digest sha256 sha1 md5 sha512 pprint pformat reader \
              DictReader parse quote unquote urlparse parse_qs urlencode netloc dedent ascii_letters digits punctuation machine \
              system node release python_version hex uuid4 token_hex token_urlsafe __version__ __name__ __file__ __doc__ \
              __len__ factorial comb prod reshape astype tolist shape dtype dtypes columns head tail describe value_counts nunique unique isna isnull iloc loc \
              read_text read_bytes exists is_file is_dir glob rglob iterdir stem suffix parent parts st_size as_posix \
              relative_to zfill rjust ljust center partition is_integer real imag bit_length to_bytes from_bytes",
    objects: None,
    hidden: "",
    modules: "json sys re math datetime time collections itertools functools string textwrap platform statistics random \
              base64 hashlib pprint csv urllib.parse uuid secrets decimal fractions operator typing dataclasses enum tomllib \
              calendar zlib struct unicodedata difflib bisect heapq copy html",
    parts: &[
        part("os", "getcwd cpu_count sep linesep getpid"),
        part(
            "os.path",
            "join exists isfile isdir basename dirname abspath relpath splitext getsize getmtime",
        ),
        part("glob", "glob"),
        Part { module: "pathlib", names: "Path PurePath", without: "replace copy" },
        part("ast", "parse literal_eval dump walk unparse"),
        part("yaml", "safe_load safe_load_all safe_dump __version__"),
        part("toml", "load loads dumps __version__"),
        part("importlib.metadata", "version"),
        Part {
            module: "numpy",
            names: "array arange linspace zeros ones eye sum mean std var min max median dot sqrt exp log pi sin cos shape \
                    reshape round abs __version__",
            without: "dump",
        },
        part("numpy.random", "rand randn randint seed choice normal"),
        part("numpy.linalg", "norm inv det solve"),
        part("pandas", "read_csv read_json DataFrame Series __version__"),
        part("torch", "__version__"),
        part("torch.cuda", "is_available device_count get_device_name"),
        part("torch.version", "cuda"),
    ],
    foreign: "__version__ version VERSION __file__ __name__ __doc__ __all__",
    refused: "exec eval compile open input getattr setattr delattr globals locals vars dir help breakpoint memoryview import \
              from __import__ __builtins__ __loader__ __spec__ os subprocess shutil builtins",
    comment: "#",
};

pub(super) const JAVASCRIPT: Language = Language {
    names: "async await break case catch class const continue default delete do else extends false finally for function if in \
            instanceof let new null of return static super switch this throw true try typeof undefined var void while yield \
            console JSON Math Object Array String Number Boolean Date Map Set RegExp Promise Error TypeError parseInt \
            parseFloat isNaN isFinite NaN Infinity Intl BigInt Symbol encodeURIComponent decodeURIComponent process require",
    members: "keys values entries fromEntries assign freeze is hasOwn version versions arch platform argv pid uptime memoryUsage \
              hrtime cwd title stdin stdout on",
    objects: Some("process Object"),
    hidden: "constructor prototype caller callee arguments mainModule binding getFunction getThis prepareStackTrace",
    modules: "",
    parts: &[
        part("fs", "readFileSync existsSync readdirSync statSync"),
        part("path", "join resolve basename dirname extname relative sep"),
        part("os", "cpus platform arch totalmem freemem EOL tmpdir release type uptime"),
        part("util", "inspect format"),
        part("crypto", "createHash randomUUID randomBytes"),
    ],
    foreign: "version VERSION name default length",
    refused: "eval Function require process module exports global globalThis window constructor prototype __proto__ Reflect \
              Proxy import fetch setTimeout setInterval setImmediate Bun Deno WebAssembly Worker Buffer console JSON Object",
    comment: "//",
};
