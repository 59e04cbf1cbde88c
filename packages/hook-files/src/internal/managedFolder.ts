/** The folder of Claude Code's managed settings, which apply to all users of this machine. */
export const managedFolder = (): string =>
  process.platform === "darwin"
    ? "/Library/Application Support/ClaudeCode"
    : process.platform === "win32"
    ? "C:\\ProgramData\\ClaudeCode"
    : "/etc/claude-code"
