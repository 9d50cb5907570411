/** What a worker says of the stdio MCP servers of its session. [mcp/stdio/reported] */
import { z } from 'zod'

/** As the server lists it: the service makes names and schemas of it that models take. */
const StdioTool = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(8192).nullish(),
  input_schema: z.record(z.string(), z.unknown()),
})

const StdioServer = z
  .strictObject({
    name: z.string().min(1).max(255),
    /** Null where there are none to call: it did not start, or is gone. */
    tools: z.array(StdioTool).max(500).nullable(),
    /** What has gone wrong with it, in words for people. */
    error: z.string().min(1).max(2000).nullable(),
  })
  .refine(({ tools, error }) => tools !== null || error !== null, {
    path: ['error'],
    message: 'is required where there are no tools',
  })
export type StdioServer = z.infer<typeof StdioServer>

/** All of the session's, each time: what was said before is forgotten. */
export const StdioReport = z.strictObject({
  servers: z
    .array(StdioServer)
    .max(20)
    .refine((servers) => new Set(servers.map(({ name }) => name)).size === servers.length, {
      message: 'names must be unique',
    }),
})
