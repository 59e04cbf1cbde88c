/** Whether an error is the error of an invalid option. */
export const isConfigError = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "_tag" in error &&
  (error._tag === "ConfigError" || error._tag === "ChainError")
