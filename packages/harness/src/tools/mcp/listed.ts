/** What is taken of a tool that an MCP server lists. */
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
