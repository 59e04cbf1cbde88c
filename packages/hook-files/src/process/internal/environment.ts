/** What of the host's environment its hooks may see, and the shell that runs them. */
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

/** The environment of a command: little, unless more is asked for by name. */
export const environment = (
  more: ReadonlyArray<string>,
  own: { readonly [name: string]: string },
  host: NodeJS.ProcessEnv = process.env
): { readonly [name: string]: string } => {
  // Without a level, bash takes a socket on its standard input for somebody who logs in from afar, and reads all of
  // `.bashrc` first.
  // What Python would write beside a script of a project would be a change of the project.
  const kept: Record<string, string> = { SHLVL: "1", PYTHONDONTWRITEBYTECODE: "1" }
  for (const [name, value] of Object.entries(host)) {
    if (value !== undefined && (passed.includes(name) || name.startsWith("LC_") || more.includes(name))) {
      kept[name] = value
    }
  }
  kept["TERM"] = terminalOf(kept["TERM"])
  // A text with a NUL cannot be passed on.
  for (const [name, value] of Object.entries(own)) if (!value.includes("\0")) kept[name] = value
  return kept
}

/**
 * A terminal that has colours. `tput setaf 1` fails where the terminal has none, or is not known, and a strict script
 * ends there: its guard would guard nothing.
 */
const terminalOf = (host: string | undefined): string =>
  host === undefined || !withColors.test(host) ? "xterm-256color" : host

/** Terminals with colours that every terminal database has. */
const withColors = /^(?:xterm|screen|tmux|rxvt|linux|ansi)(?:-(?:16|88|256)color)?$/

/** Bash where it is: what is written for it would end with 2 in another shell, which means something else. */
export const shell = (): string =>
  ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].find((path) => existsSync(path)) ?? "/bin/sh"

/** The user's own shell, for lines that are written for it. */
export const loginShell = (host: NodeJS.ProcessEnv = process.env): string => {
  const own = host["SHELL"]
  return own !== undefined && own.startsWith("/") && existsSync(own) ? own : shell()
}
