/** Variables that would have every program load something: nobody sets them in passing. */

/** What no script may leave for later commands. */
export const loads = /^(?:LD_|DYLD_|BASH_ENV$|ENV$|NODE_OPTIONS$|PYTHONSTARTUP$|PERL5OPT$|GIT_|PROMPT_COMMAND$)/

/**
 * What of a project may be set for its own entries: no word that has a program load more than the entry names, and none
 * that says where programs and settings are.
 */
const loadsMore = new RegExp(
  "^(?:PATH|HOME|XDG_CONFIG_HOME|IFS|SHELL|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PS4|ZDOTDIR|NODE_PATH|" +
    "NODE_EXTRA_CA_CERTS|PERLLIB|PERL5.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|" +
    "JDK_JAVA_OPTIONS|PHPRC|PHP_INI_SCAN_DIR|LUA_INIT.*|LUA_C?PATH.*|GCONV_PATH|npm_config_.*|" +
    "PYTHON(?!UNBUFFERED$|IOENCODING$|UTF8$|DONTWRITEBYTECODE$).*)$",
  "i"
)

/** What names programs that others run, such as an editor, or that sets what a build or a package manager loads. */
const runs = new RegExp(
  "^(?:XDG_.*|.*EDITOR|VISUAL|.*PAGER|BROWSER|LESS(?:OPEN|CLOSE)|SSH_.*|BUN_.*|DENO_.*|GO(?:FLAGS|" +
    "PROXY|ENV|ROOT|PATH|TOOLCHAIN)|CARGO_.*|RUST(?:C|FLAGS|DOC).*|MAKEFLAGS|CC|CXX|PIP_.*|UV_.*|" +
    "POETRY_.*|PIPENV_.*|YARN_.*|PNPM_.*|COREPACK_.*|COMPOSER_.*|CONDA_.*|VIRTUAL_ENV|NVM_DIR|PYENV_ROOT|" +
    "MAVEN_.*|GRADLE_.*|DOTNET_.*|CLASSPATH)$",
  "i"
)

/** What sends the traffic of programs elsewhere, or lets them trust other servers. */
const moves = new RegExp(
  "^(?:.*_PROXY|.*_(?:BASE_URL|API_BASE|API_URL|ENDPOINT|ENDPOINT_URL)|(?:DOCKER|OLLAMA)_HOST|" +
    "KUBECONFIG|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS|SSL_CERT_.*|SSLKEYLOGFILE|CURL_HOME|.*CA_BUNDLE|" +
    "NODE_TLS_REJECT_UNAUTHORIZED)$",
  "i"
)

/** Whether it makes programs load code. */
export const loadsCode = (name: string): boolean => loads.test(name) || loadsMore.test(name)

/** Whether a project may not set it. */
export const isRefused = (name: string): boolean => loadsCode(name) || runs.test(name) || moves.test(name)
