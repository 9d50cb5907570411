/** The names of MCP tools for the model, and which server a name belongs to. */
import { createHash } from 'node:crypto'

const prefix = 'mcp__'
/** The longest name that every wire accepts. */
const longestName = 64
const digestLength = 8

/** No other tool has such a name: custom tools and built-in tools may not. */
export const isMcpName = (name: string): boolean => name.startsWith(prefix)

/**
 * Builds `mcp__<server>__<tool>`. Characters that a wire refuses are replaced. A name that would then be ambiguous ends
 * with a digest of both names. A pair always gets the same name, and two pairs never share one.
 */
export function mcpName(server: string, tool: string): string {
  const name = `${prefix}${plain(server)}__${plain(tool)}`
  // A server name with double or trailing underscores could be confused with the beginning of a tool's name.
  const isPlain = plain(server) === server && plain(tool) === tool && !/__|_$/.test(server)
  if (isPlain && name.length <= longestName) return name
  const digest = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
  return `${name.slice(0, longestName - digestLength - 1)}_${digest.slice(0, digestLength)}`
}

const plain = (text: string): string => text.replaceAll(/[^\w-]/g, '_')

/** Server and tool by the name alone, for a tool that no longer exists. */
export function mcpNames(name: string): { server: string; tool: string } {
  const [server = '', ...tool] = name.slice(prefix.length).split('__')
  return { server, tool: tool.join('__') }
}

/** True when the name may belong to a tool of this server. */
export const mayBelongTo = (name: string, server: string): boolean =>
  name.startsWith(`${prefix}${plain(server)}`.slice(0, longestName - digestLength - 1))
