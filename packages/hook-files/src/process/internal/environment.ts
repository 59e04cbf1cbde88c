/** Builds the environment of hook commands, and finds the shell that runs them. */
import { existsSync } from "node:fs"

export const passed: ReadonlyArray<string> = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "PYENV_ROOT",
  "NVM_DIR",
  "VIRTUAL_ENV",
  "TERM",
  "CI",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "XDG_CONFIG_HOME",
  "XDG_CACHE_HOME",
  "XDG_DATA_HOME"
]

/** The environment of a command: few variables of the host, and those that are requested by name. */
export const environment = (
  more: ReadonlyArray<string>,
  own: { readonly [name: string]: string },
  host: NodeJS.ProcessEnv = process.env
): { readonly [name: string]: string } => {
  // Without `SHLVL`, bash takes a socket on its standard input for a remote login and reads `.bashrc` first. Python
  // must not write its cache beside a script, because that would change the project.
  const kept: Record<string, string> = { SHLVL: "1", PYTHONDONTWRITEBYTECODE: "1" }
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && (passed.includes(name) || name.startsWith("LC_") || more.includes(name))) {
      kept[name] = value
    }
  }
  kept["TERM"] = terminalOf(kept["TERM"])
  // The system refuses variables that contain a NUL character.
  for (const [name, value] of Object.entries(own)) if (!value.includes("\0")) kept[name] = value
  return kept
}

/**
 * A terminal type with colours. With another one, `tput setaf 1` fails and ends a strict script, so that its guard
 * would guard nothing.
 */
const terminalOf = (host: string | undefined): string =>
  host === undefined || !withColors.test(host) ? "xterm-256color" : host

/** Terminal types with colours that every terminal database contains. */
const withColors = /^(?:xterm|screen|tmux|rxvt|linux|ansi)(?:-(?:16|88|256)color)?$/

/** Bash if it is installed. In another shell, a script for bash would end with 2, which means that the hook blocks. */
export const shell = (): string =>
  ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].find((path) => existsSync(path)) ?? "/bin/sh"

/** The shell of the user, for lines that are written for it. */
export const loginShell = (host: NodeJS.ProcessEnv = process.env): string => {
  const own = host["SHELL"]
  return own !== undefined && own.startsWith("/") && existsSync(own) ? own : shell()
}
