/** Interprets errors of the MCP library. Recognizes errors by shape, so that callers need not load the library. */
import type { McpErrorType } from '@steward/protocol/events.ts'
import { reasonOf as deepestReason } from '../egress.ts'
import { breakOff } from './fit-message.ts'

/** The HTTP status behind an error. */
function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if (error.name === 'UnauthorizedError') return 401
  if (error.name === 'InsufficientScopeError') return 403
  if ('status' in error && typeof error.status === 'number') return error.status
  // JSON-RPC codes are negative. The older transport stores the status in `code`.
  if ('code' in error && typeof error.code === 'number' && error.code > 0) return error.code
  const posted = /\(HTTP (\d{3})\)/.exec(error.message)?.[1]
  return posted === undefined ? undefined : Number(posted)
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

/** The server has no endpoint here for this transport. */
export const isMissed = (error: unknown): boolean =>
  [400, 404, 405, 406, 415, 501].includes(statusOf(error) ?? 0)

/** The server speaks only revisions of the protocol without a handshake. */
export const isModernOnly = (error: unknown): boolean =>
  codeOf(error) === unsupportedVersion ||
  (error instanceof Error && error.message.includes(String(unsupportedVersion)))
const unsupportedVersion = -32_022

/** The endpoint refused the request by its HTTP status. */
export const hasStatus = (error: unknown): boolean => statusOf(error) !== undefined

/** The server has forgotten the session, so the call was not run. */
export const isSessionLost = (error: unknown): boolean => [400, 404].includes(statusOf(error) ?? 0)

export const isTimeout = (error: unknown): boolean => codeOf(error) === 'REQUEST_TIMEOUT'

export const isBroken = (error: unknown): boolean =>
  codeOf(error) === breakOff || codeOf(error) === 'CONNECTION_CLOSED'

/** The server answered with an error; the connection works. */
export const isAnswer = (error: unknown): boolean =>
  typeof codeOf(error) === 'number' && !isBroken(error) && statusOf(error) === undefined

export const mcpErrorType = (error: unknown): McpErrorType =>
  [401, 403].includes(statusOf(error) ?? 0)
    ? 'mcp_authentication_failed_error'
    : 'mcp_connection_failed_error'

/** A sentence for people and models. */
export function describeMcpFailure(error: unknown): string {
  const status = statusOf(error)
  if (status === 401) return 'it wants other credentials (401)'
  if (status === 403) return 'it refuses these credentials (403)'
  return deepestReason(error)
}
