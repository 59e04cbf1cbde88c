/** Checks of options that engines on Postgres share. */

/** Whether a text is the address of a Postgres database. */
export const isAddress = (url: string): boolean => URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)

/** Whether a text can be part of the names of tables. */
export const isPrefix = (prefix: string): boolean => /^[a-z][a-z0-9_]{0,39}$/.test(prefix)
