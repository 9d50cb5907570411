/** The report of a worker about the stdio MCP servers of its session. [mcp/stdio/reported] */
import { z } from 'zod'

/** A tool as the server lists it. The service turns its name and schema into forms that models accept. */
const StdioTool = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(8192).nullish(),
  input_schema: z
    .record(z.string(), z.unknown())
    .describe('JSON Schema of the input, as the server lists it.'),
})

const StdioServer = z
  .strictObject({
    name: z.string().min(1).max(255),
    tools: z
      .array(StdioTool)
      .max(500)
      .nullable()
      .describe('Null where the server did not start, or has ended.'),
    error: z.string().min(1).max(2000).nullable().describe('What went wrong, for a person.'),
  })
  .refine(({ tools, error }) => tools !== null || error !== null, {
    path: ['error'],
    message: 'is required where there are no tools',
  })
  .meta({ id: 'StdioServer', description: 'One server, as its worker found it.' })
export type StdioServer = z.infer<typeof StdioServer>

/** Each report lists all servers of the session and replaces the report before. */
export const StdioReport = z
  .strictObject({
    servers: z
      .array(StdioServer)
      .max(20)
      .refine((servers) => new Set(servers.map(({ name }) => name)).size === servers.length, {
        message: 'names must be unique',
      })
      .describe('All stdio servers of the session, each name once.'),
  })
  .meta({
    id: 'StdioReportParams',
    examples: [
      {
        servers: [
          {
            name: 'tracker',
            tools: [
              {
                name: 'find',
                description: 'Finds issues',
                input_schema: { type: 'object', properties: { words: { type: 'string' } } },
              },
            ],
            error: null,
          },
        ],
      },
    ],
  })
