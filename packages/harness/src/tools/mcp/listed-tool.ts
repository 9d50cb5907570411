export const longestDescription = 8_192

/** The parts of a tool, as an MCP server lists it, that are used. */
export type ListedTool = {
  name: string
  title?: string | undefined
  description?: string | undefined
  inputSchema: Record<string, unknown>
  annotations?:
    | {
        title?: string | undefined
        readOnlyHint?: boolean | undefined
        idempotentHint?: boolean | undefined
      }
    | undefined
}
