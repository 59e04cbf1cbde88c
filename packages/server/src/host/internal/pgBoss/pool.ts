/** The part of a connection pool that pg-boss needs. It is apart from pg-boss, which may not be installed. */

export interface Pool {
  readonly query: (text: string, values?: Array<unknown>) => Promise<{ readonly rows: Array<unknown> }>
}
