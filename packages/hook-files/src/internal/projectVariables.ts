/** Variables that would have every program load something: nobody sets them in passing. */

/** What no script may leave for later commands. */
export const loads = /^(?:LD_|DYLD_|BASH_ENV$|ENV$|NODE_OPTIONS$|PYTHONSTARTUP$|PERL5OPT$|GIT_|PROMPT_COMMAND$)/

/**
 * What of a project may be set for its own entries: no word that has a program load more than the entry names, and none
 * that says where programs and settings are.
 */
const loadsMore =
  /^(?:PATH|HOME|XDG_CONFIG_HOME|IFS|SHELL|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|PS4|ZDOTDIR|NODE_PATH|NODE_EXTRA_CA_CERTS|PERLLIB|PERL5.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|PHPRC|PHP_INI_SCAN_DIR|LUA_INIT.*|LUA_C?PATH.*|GCONV_PATH|npm_config_.*|PYTHON(?!UNBUFFERED$|IOENCODING$|UTF8$|DONTWRITEBYTECODE$).*)$/i

/** Whether a project may not set it. */
export const isRefused = (name: string): boolean => loads.test(name) || loadsMore.test(name)
