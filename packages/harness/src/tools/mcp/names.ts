/** Names of MCP tools: what the model calls them, and whose they are. */
import { createHash } from 'node:crypto'

const prefix = 'mcp__'
/** What every wire takes. */
const longestName = 64
const digestLength = 8

/** Nothing else bears such a name: custom tools may not, and those of the toolset do not. */
export const isMcpName = (name: string): boolean => name.startsWith(prefix)

/**
 * `mcp__<server>__<tool>`. What a wire would not take is replaced, and what would then no longer say which tool is
 * meant ends in a digest of both names: one pair has always the same name, and two pairs never share one.
 */
export function mcpName(server: string, tool: string): string {
  const name = `${prefix}${plain(server)}__${plain(tool)}`
  // A server's name that holds or ends in underscores could take some of the tool's.
  const isPlain = plain(server) === server && plain(tool) === tool && !/__|_$/.test(server)
  if (isPlain && name.length <= longestName) return name
  const digest = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
  return `${name.slice(0, longestName - digestLength - 1)}_${digest.slice(0, digestLength)}`
}

const plain = (text: string): string => text.replaceAll(/[^\w-]/g, '_')

/** As well as a name alone can say it: of a tool that is not there. */
export function mcpNames(name: string): { server: string; tool: string } {
  const [server = '', ...tool] = name.slice(prefix.length).split('__')
  return { server, tool: tool.join('__') }
}

/** Whether the name could be that of a tool of this server. */
export const mayBeOf = (name: string, server: string): boolean =>
  name.startsWith(`${prefix}${plain(server)}`.slice(0, longestName - digestLength - 1))
