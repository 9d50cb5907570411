/** Bedrock's answers to Anthropic's messages: frames with checksums, and requests that are signed. */
import { crc32 } from 'node:zlib'
import type { GivenKeys } from '@steward/cloud/stubs/stub-aws.ts'
import { verifySignature } from '@steward/cloud/stubs/sigv4.ts'
import { anthropicDialect } from './stub-anthropic.ts'
import type { StubDialect } from './stub-server.ts'

const unknownKeys = 'UnrecognizedClientException:http://internal.amazon.com/coral/'

const refusal = (status: number, message: string) => ({
  status,
  body: JSON.stringify({ message }),
})

/** `keys`: those that sign; left out: `apiKey` is asked for as a bearer. */
type Allowed = { keys?: GivenKeys | undefined; apiKey: string }
type Asked = Parameters<NonNullable<StubDialect['refuse']>>[0]

export function refuseUnsigned(
  { keys, apiKey }: Allowed,
  { path, headers, method, bytes }: Pick<Asked, 'path' | 'headers' | 'method' | 'bytes'>,
): ReturnType<NonNullable<StubDialect['refuse']>> {
  if (!keys)
    return headers.authorization === `Bearer ${apiKey}`
      ? undefined
      : refusal(403, 'Authentication failed: Please make sure your API Key is valid.')
  const request = { method, host: headers.host ?? '', path, headers, body: bytes }
  const verified = verifySignature(request, (id) => keys.get(id))
  if (!verified.ok)
    return { ...refusal(403, verified.reason), headers: { 'x-amzn-errortype': unknownKeys } }
  return verified.service === 'bedrock' ? undefined : refusal(403, 'Credential of a service')
}

export function bedrockDialect({ keys, apiKey }: Allowed): StubDialect {
  return {
    frames: (answer) => anthropicDialect.frames(answer),
    encoding: {
      contentType: 'application/vnd.amazon.eventstream',
      encode(event) {
        const data = event.split('\ndata: ')[1]?.trim() ?? ''
        return eventFrame('chunk', { bytes: Buffer.from(data).toString('base64'), p: 'abcdefg' })
      },
    },
    error: (_status, _type, message) => JSON.stringify({ message }),
    refuse({ path, headers, body, method, bytes }) {
      if (!/^\/model\/[^/]+\/invoke-with-response-stream$/.test(path))
        return refusal(404, `No route for ${path}`)
      if (body.anthropic_version !== 'bedrock-2023-05-31' || 'model' in body || 'stream' in body)
        return refusal(400, 'Malformed input request')
      if (headers['x-api-key'] !== undefined || headers['anthropic-version'] !== undefined)
        return refusal(400, 'A header of another API')
      return refuseUnsigned({ keys, apiKey }, { path, headers, method, bytes })
    },
  }
}

export const eventFrame = (type: string, payload: object): Uint8Array =>
  frame(
    { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' },
    payload,
  )
export const exceptionFrame = (type: string, message: string): Uint8Array =>
  frame({ ':exception-type': type, ':message-type': 'exception' }, { message })

function frame(headers: Record<string, string>, payload: object): Uint8Array {
  const named = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const head = Buffer.alloc(name.length + 4)
      head.writeUInt8(name.length, 0)
      head.write(name, 1)
      // A text.
      head.writeUInt8(7, name.length + 1)
      head.writeUInt16BE(Buffer.byteLength(value), name.length + 2)
      return Buffer.concat([head, Buffer.from(value)])
    }),
  )
  const body = Buffer.from(JSON.stringify(payload))
  const whole = Buffer.alloc(12 + named.length + body.length + 4)
  whole.writeUInt32BE(whole.length, 0)
  whole.writeUInt32BE(named.length, 4)
  whole.writeUInt32BE(crc32(whole.subarray(0, 8)), 8)
  named.copy(whole, 12)
  body.copy(whole, 12 + named.length)
  whole.writeUInt32BE(crc32(whole.subarray(0, whole.length - 4)), whole.length - 4)
  return whole
}
