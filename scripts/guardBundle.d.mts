/** Writes the bundle of the command to a file, and beside it what identifies its content. */
export const guardBundle: (file: string, input?: string) => Promise<void>
