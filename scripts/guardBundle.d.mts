/** Writes the bundle of the command to a file. Its first line identifies its content. */
export const guardBundle: (file: string, input?: string) => Promise<void>
