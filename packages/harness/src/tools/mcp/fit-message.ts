/**
 * Messages of MCP servers that do not speak JSON-RPC by the book, made into what the library reads. The library drops a
 * message that it cannot read, and the request would wait for its time limit.
 */
import { z } from 'zod'

export type RequestId = string | number
export type JsonMembers = Record<string, unknown>

/** JSON-RPC code of the error for an answer that did not come. */
export const breakOff = -32_099
const internalError = -32_603

export type ExpectedAnswer = {
  /** The request that this body answers, where it is known. */
  request?: RequestId | undefined
  /** The request that began the connection: its result is rebuilt from the parts that are used. */
  handshake?: RequestId | undefined
}

export const isObject = (value: unknown): value is JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const withoutNulls = (given: JsonMembers): JsonMembers =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))

export const isSameId = (one: unknown, other: RequestId | undefined): boolean =>
  other !== undefined && (typeof one === 'string' || typeof one === 'number')
    ? String(one) === String(other)
    : false

export const isAnswerMessage = (message: unknown): message is JsonMembers =>
  isObject(message) && typeof message['method'] !== 'string'

/** An error answer for a request that got no other. */
export const breakOffAnswer = (id: RequestId, why: string): JsonMembers => ({
  jsonrpc: '2.0',
  id,
  error: { code: breakOff, message: why },
})

/** Returns the message itself when nothing about it is odd. */
export function fitMessage(message: unknown, expected: ExpectedAnswer): unknown {
  if (!isObject(message)) return message
  return isAnswerMessage(message) ? fitAnswer(message, expected) : fitNotice(message)
}

function fitNotice(message: JsonMembers): JsonMembers {
  const { params, id, ...rest } = message
  const isOdd = isObject(params) && Object.values(params).includes(null)
  if (message['jsonrpc'] === '2.0' && id !== null && params !== null && !isOdd) return message
  return {
    ...rest,
    jsonrpc: '2.0',
    ...(id === undefined || id === null ? {} : { id }),
    ...(isObject(params) ? { params: withoutNulls(params) } : {}),
  }
}

const ByTheBook = z.union([
  z.strictObject({
    jsonrpc: z.literal('2.0'),
    id: z.number(),
    result: z.looseObject({ _meta: z.undefined().optional() }),
  }),
  z.strictObject({
    jsonrpc: z.literal('2.0'),
    id: z.number(),
    error: z.looseObject({ code: z.int(), message: z.string() }),
  }),
])

function fitAnswer(message: JsonMembers, { request, handshake }: ExpectedAnswer): JsonMembers {
  const isHandshake = isSameId(message['id'], handshake)
  if (!isHandshake && ByTheBook.safeParse(message).success) return message
  // HTTP says which request an answer without an id belongs to.
  const id = message['id'] ?? request ?? null
  const { error, result } = message
  if (error !== undefined && error !== null) return { jsonrpc: '2.0', id, error: errorOf(error) }
  if (!isObject(result)) {
    const why = 'the answer has neither a result that is an object nor an error'
    return { jsonrpc: '2.0', id, error: { code: internalError, message: why } }
  }
  return { jsonrpc: '2.0', id, result: isHandshake ? fitHandshake(result) : fitMeta(result) }
}

function errorOf(error: unknown): JsonMembers {
  if (!isObject(error)) return { code: internalError, message: textOf(error) }
  const code = Number.isInteger(error['code']) ? error['code'] : internalError
  const { message, data } = error
  const said = typeof message === 'string' ? message : textOf(error)
  return { code, message: said, ...(data === undefined || data === null ? {} : { data }) }
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

/** Members of `_meta` that the library would check, and that mean nothing in a result. */
const checkedMeta = new Set(['progressToken', 'io.modelcontextprotocol/related-task'])

function fitMeta({ _meta, ...result }: JsonMembers): JsonMembers {
  if (!isObject(_meta)) return result
  const kept = Object.entries(_meta).filter(
    ([key, value]) => value !== null && !checkedMeta.has(key),
  )
  return { ...result, _meta: Object.fromEntries(kept) }
}

/** Characters of a server's own name and version. */
const longestWord = 200
const word = (value: unknown): string =>
  typeof value === 'string' ? value.slice(0, longestWord) : ''

function fitHandshake(result: JsonMembers): JsonMembers {
  const { protocolVersion, capabilities, serverInfo } = result
  const tools = isObject(capabilities) ? capabilities['tools'] : undefined
  const listChanged = isObject(tools) && tools['listChanged'] === true
  const info = isObject(serverInfo) ? serverInfo : {}
  return {
    protocolVersion,
    capabilities: tools === undefined || tools === null ? {} : { tools: { listChanged } },
    serverInfo: { name: word(info['name']), version: word(info['version']) },
  }
}
