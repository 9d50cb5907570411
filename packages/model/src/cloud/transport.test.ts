import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CloudRoute } from '@steward/cloud/stubs/stub-server.ts'
import { json, startStubCloud } from '@steward/cloud/stubs/stub-server.ts'
import { awsKeys, awsRole, awsRoutes } from '@steward/cloud/stubs/stub-aws.ts'
import type { ModelSpec } from '../spec.ts'
import { anthropicDialect } from '../stubs/stub-anthropic.ts'
import { readModelAnswer, userText } from '../stubs/read-answer.ts'
import { bedrockDialect, eventFrame, exceptionFrame } from '../stubs/stub-bedrock.ts'
import type { StubDialect } from '../stubs/stub-server.ts'
import { startStub } from '../stubs/stub-server.ts'
import { openModel } from '../wire.ts'
import { cloudAuthority } from './authority.ts'

const apiKey = 'bedrock-api-key-0123456789'
const keys = {
  type: 'aws_keys',
  access_key_id: awsKeys.accessKeyId,
  secret_access_key: awsKeys.secretAccessKey,
} as const
const cloud = { type: 'bedrock', region: 'us-east-1', model: 'us.anthropic.claude-x' } as const
const answer = { blocks: [{ type: 'text' as const, pieces: ['Hello'] }], stop: 'end_turn' as const }
const contentType = 'application/vnd.amazon.eventstream'
const events = anthropicDialect.frames(answer).map((event) => {
  const data = event.split('\ndata: ')[1]?.trim() ?? ''
  return eventFrame('chunk', { bytes: Buffer.from(data).toString('base64') })
})

/** A Bedrock that answers with these frames. */
const framed = (...frames: Uint8Array[]): StubDialect => ({
  ...bedrockDialect({ apiKey }),
  frames: () => frames.map((_, at) => String(at)),
  encoding: { contentType, encode: (at) => frames[Number(at)] ?? new Uint8Array(0) },
})

async function ask(
  dialect: StubDialect,
  more: Partial<ModelSpec> = {},
  reply: Parameters<Awaited<ReturnType<typeof startStub>>['replies']>[0] = answer,
  ...routes: CloudRoute[]
) {
  await using identities = await startStubCloud(...routes)
  await using stub = await startStub(dialect)
  stub.replies(reply)
  const spec: ModelSpec = {
    provider: 'anthropic',
    api: 'anthropic-messages',
    model: 'claude-x',
    base_url: stub.url,
    api_key: apiKey,
    cloud,
    ...more,
  }
  const model = openModel(spec, { authority: cloudAuthority({ fetch: identities.fetch }) })
  const read = await readModelAnswer(model, [userText('Hi')])
  return { ...read, requests: stub.requests, asked: identities.requests }
}

async function failure(...about: Parameters<typeof ask>) {
  const { last } = await ask(...about)
  assert.ok(last?.type === 'failed', JSON.stringify(last))
  return last.failure
}

void describe('an answer of Bedrock', () => {
  void it('ends with the words of an exception in its midst', async () => {
    const thrown = exceptionFrame('throttlingException', 'Too many tokens, please wait.')
    const got = await failure(framed(...events.slice(0, 3), thrown))
    assert.deepEqual(got.kind, 'rate_limited')
    assert.equal(got.message, 'Too many tokens, please wait.')
    const invalid = exceptionFrame('validationException', 'messages: is wrong')
    assert.equal((await failure(framed(invalid))).retryable, false)
  })

  void it('is not believed with a wrong checksum', async () => {
    const broken = Uint8Array.from(events[2] ?? [])
    broken[40] = (broken[40] ?? 0) ^ 1
    const got = await failure(framed(...events.slice(0, 2), broken, ...events.slice(3)))
    assert.deepEqual([got.kind, got.retryable], ['unreachable', true])
  })

  void it('is given up with a frame that is too large, before it comes', async () => {
    const huge = Buffer.alloc(12)
    huge.writeUInt32BE(2 ** 31, 0)
    const got = await failure(framed(huge))
    assert.deepEqual([got.kind, got.retryable], ['request_failed', false])
    assert.match(got.message, /a frame of 2147483648 bytes/)
  })

  void it('is read whole in any pieces, and broken off within a frame is none', async () => {
    const whole = Buffer.concat(events)
    const pieces = Array.from({ length: whole.length }, (_, at) => whole.subarray(at, at + 1))
    const { blocks } = await ask(framed(...pieces))
    assert.ok(blocks[0]?.type === 'text' && blocks[0].text === 'Hello')
    const got = await failure(framed(whole.subarray(0, -5)))
    assert.deepEqual([got.kind, got.retryable], ['unreachable', true])
  })
})

void describe('a request to Bedrock', () => {
  const message = "You don't have access to the model with the specified model ID."

  void it('goes to the id of the model there, with what its API takes', async () => {
    const { requests } = await ask(bedrockDialect({ apiKey }), {
      headers: { 'anthropic-beta': 'context-1m-2025-08-07' },
    })
    assert.equal(requests[0]?.path, '/model/us.anthropic.claude-x/invoke-with-response-stream')
    assert.deepEqual(requests[0]?.body.anthropic_beta, ['context-1m-2025-08-07'])
    assert.equal(requests[0]?.headers['anthropic-beta'], undefined)
  })

  void it('omits what a cloud may not know yet', async () => {
    const native_config = { reasoning: true, compat: { supportsMidConvoSystemMessages: true } }
    const { requests } = await ask(bedrockDialect({ apiKey }), { native_config, effort: 'low' })
    const body = requests[0]?.body
    assert.deepEqual(Object.keys(body?.thinking ?? {}), ['type', 'budget_tokens'])
    assert.equal(body?.anthropic_beta, undefined)
  })

  void it("says that a model is not opened, in the cloud's words", async () => {
    const refused = { status: 403, error: 'AccessDeniedException', message }
    const got = await failure(bedrockDialect({ apiKey }), {}, refused)
    assert.deepEqual([got.kind, got.message], ['authentication', message])
  })

  void it('is signed anew when its credential has ended', async () => {
    const { routes, keys: known } = awsRoutes()
    const dialect = bedrockDialect({ keys: known, apiKey })
    let isFirst = true
    const ended: StubDialect = {
      ...dialect,
      refuse(request) {
        if (!isFirst) return dialect.refuse?.(request)
        isFirst = false
        return { status: 401, body: JSON.stringify({ message: 'The token has expired' }) }
      },
    }
    const credentials = { ...keys, role_arn: awsRole }
    const { last, asked } = await ask(
      ended,
      { cloud: { ...cloud, credentials } },
      answer,
      ...routes,
    )
    assert.equal(last?.type, 'end')
    assert.equal(asked.length, 2)
  })

  void it('is not sent without a credential, and the cloud says why', async () => {
    const refuses = { status: 403, code: 'AccessDenied', message: 'is not authorized' }
    const { routes } = awsRoutes({ refuses })
    const credentials = { ...keys, role_arn: awsRole }
    const more = { cloud: { ...cloud, credentials } }
    const got = await failure(bedrockDialect({ apiKey }), more, answer, ...routes)
    assert.deepEqual([got.kind, got.retryable], ['authentication', false])
    assert.match(got.message, /^The cloud gave no credential: .*is not authorized/)
    const busy = await failure(bedrockDialect({ apiKey }), more, answer, () => json({}, 503))
    assert.deepEqual([busy.kind, busy.retryable], ['overloaded', true])
  })

  void it('hides secrets of its credentials in what the cloud says', async () => {
    const said = { status: 400, error: 'ValidationException', message: keys.secret_access_key }
    const { keys: known } = awsRoutes()
    const dialect = bedrockDialect({ keys: known, apiKey })
    const got = await failure(dialect, { cloud: { ...cloud, credentials: keys } }, said)
    assert.equal(got.message, '*'.repeat(keys.secret_access_key.length))
  })

  void it('is refused with a speed, and with a name that leads elsewhere', async () => {
    const fast = await failure(bedrockDialect({ apiKey }), { speed: 'fast' })
    assert.match(fast.message, /speed 'fast' is not supported by provider 'bedrock'/)
    const elsewhere = { cloud: { ...cloud, model: '../other' } }
    assert.match((await failure(bedrockDialect({ apiKey }), elsewhere)).message, /^model: may hold/)
  })
})
