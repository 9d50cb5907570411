import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { integrationContract } from '../contract.ts'
import type { ExternalThread, RawDelivery } from '../integration.ts'
import { slackIntegration } from './slack.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const now = Date.UTC(2030, 0, 1)
const secret = 'a signing secret of Slack, 32 ch'

function sign(body: string, key: string, nowMs: number): RawDelivery {
  const timestamp = String(Math.floor(nowMs / 1000))
  const mark = createHmac('sha256', key).update(`v0:${timestamp}:${body}`).digest('hex')
  const headers = { 'x-slack-signature': `v0=${mark}`, 'x-slack-request-timestamp': timestamp }
  return { headers, body: bytes(body) }
}

const event = (changed: object, team_id = 'T1') => ({
  type: 'event_callback',
  team_id,
  event_id: 'Ev1',
  event: {
    type: 'app_mention',
    user: 'UADA',
    text: 'Mend it.',
    channel: 'C1',
    ts: '7.1',
    ...changed,
  },
})

let secrets = 0
integrationContract('Slack', {
  integration: slackIntegration,
  isTimed: true,
  newSecret: () => `${secret} ${secrets++}`,
  configFor: (author) => ({ channels: ['acme/shop#7'], authors: [author] }),
  payload: ({ scope, author, text }) => {
    const [channel = ''] = scope.split(':')
    return JSON.stringify(event({ user: author, text, channel, ts: '7' }))
  },
  scopeOf: (scope) => `${scope}:7`,
  sign: ({ body }, key, nowMs) => sign(body, key, nowMs),
})

const config = { channels: ['C1'], authors: ['UADA'] }
const read = (payload: object) => slackIntegration.read(bytes(JSON.stringify(payload)))(config)
const reasonOf = (payload: object) => {
  const found = read(payload)
  return found.kind === 'ignored' ? found.reason : found.kind
}

describe('deliveries of Slack', () => {
  it('take a mention once, whether it comes as a mention or as a message of its channel', () => {
    const ids = ['app_mention', 'message'].map((type, n) => {
      const body = JSON.stringify({ ...event({ type }), event_id: `Ev${n}` })
      const check = slackIntegration.check(sign(body, secret, now), [secret], now)
      return check.kind === 'genuine' ? check.id : check.reason
    })
    assert.deepEqual(ids, ['T1/C1/7.1', 'T1/C1/7.1'])
  })

  it('are signed as the published example is', () => {
    const body =
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
    const headers = {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    }
    const published = '8f742231b10e8888abcd99yyyzzz85a5'
    const delivery = { headers, body: bytes(body) }
    const check = slackIntegration.check(delivery, [published], 1_531_420_618_000)
    assert.equal(check.kind, 'genuine')
  })

  it('give each thread its scope: that of its first message', () => {
    const first = read(event({}))
    const later = read(event({ ts: '8.2', thread_ts: '7.1' }))
    assert.ok(first.kind === 'message' && later.kind === 'message')
    assert.deepEqual([first.scope, later.scope], ['C1:7.1', 'C1:7.1'])
    assert.deepEqual(first.target, {
      channel: 'C1',
      thread: '7.1',
      since: '7.1',
      user: 'UADA',
      team: 'T1',
    })
  })

  it('ignore strangers, other companies, bots, edits and channels that are not listed', () => {
    assert.equal(reasonOf(event({ user: 'UEVE' })), 'stranger')
    assert.equal(reasonOf(event({ user_team: 'T2' })), 'stranger')
    assert.equal(reasonOf(event({ bot_id: 'B1' })), 'bot')
    assert.equal(reasonOf(event({ channel: 'C2' })), 'unrelated')
    const direct = { type: 'message', channel: 'D1', channel_type: 'im' }
    assert.equal(reasonOf(event(direct)), 'message')
    for (const subtype of ['message_changed', 'bot_message', 'channel_join'])
      assert.equal(reasonOf(event({ ...direct, subtype })), 'unrelated', subtype)
    assert.equal(reasonOf(event({ type: 'message', channel_type: 'channel' })), 'unrelated')
    assert.equal(reasonOf(event({ text: ' ' })), 'malformed')
  })

  it('take a message of a thread without a mention as one for whoever has joined it', () => {
    const reply = {
      ...{ type: 'message', channel_type: 'channel', ts: '8.2', thread_ts: '7.1' },
      text: 'And the tests?',
    }
    const of = (changed: object, more: object = {}, given: object = {}) => {
      const payload = { ...event({ ...reply, ...changed }), ...more }
      const body = bytes(JSON.stringify(payload))
      const found = slackIntegration.read(body)({ ...config, ...given })
      return found.kind === 'ignored' ? found.reason : found.kind === 'message' && found.isFollowUp
    }
    assert.equal(of({}), true)
    assert.equal(of({ channel_type: 'group', subtype: 'file_share' }), true)
    assert.equal(of({ channel_type: 'mpim', channel: 'G1' }), true)
    const bot = { authorizations: [{ user_id: 'UBOT' }] }
    const toOthers = ['<@UBOB> look', ' <!here> look', '<!subteam^S1> look']
    for (const text of toOthers) assert.equal(of({ text }), 'unrelated', text)
    // The mention itself comes as an event of its own.
    assert.equal(of({ text: 'And <@UBOT>?' }, bot), 'unrelated')
    assert.equal(of({ user: 'UBOT' }, bot), 'bot')
    assert.equal(of({ bot_id: 'B1' }), 'bot')
    assert.equal(of({ user: 'UEVE' }), 'unrelated', 'others talk without being listed')
    assert.equal(of({ thread_ts: undefined }), 'unrelated')
    assert.equal(of({ thread_ts: '8.2' }), 'unrelated')
    assert.equal(of({ subtype: 'message_changed' }), 'unrelated')
    assert.equal(of({ channel: 'C2' }), 'unrelated')
    assert.equal(of({}, {}, { follow_ups: false }), 'unrelated')
    const mention = read(event({ thread_ts: '7.1' }))
    assert.ok(mention.kind === 'message' && mention.isFollowUp === undefined)
  })

  it('take a button of an allowed person as a decision, from a form', () => {
    const payload = {
      type: 'block_actions',
      team: { id: 'T1' },
      user: { id: 'UADA', team_id: 'T1' },
      channel: { id: 'C1' },
      message: { ts: '9.9', thread_ts: '7.1' },
      actions: [{ action_id: 'allow', value: 'sevt_1' }],
    }
    const form = (shown: object) =>
      bytes(String(new URLSearchParams({ payload: JSON.stringify(shown) })))
    const decided = { scope: 'C1:7.1', author: 'UADA', call: 'sevt_1', message: '9.9' }
    assert.deepEqual(slackIntegration.read(form(payload))(config), {
      ...{ kind: 'decision', result: 'allow', ...decided },
    })
    assert.equal(slackIntegration.workspaceOf(form(payload)), 'T1')
    const stranger = slackIntegration.read(form({ ...payload, user: { id: 'UEVE' } }))(config)
    assert.ok(stranger.kind === 'ignored' && stranger.reason === 'stranger')
  })

  it('name no address of a file from outside, which anybody may have named', () => {
    const files = [
      { name: 'a', url_private: 'https://files.slack.com/files-pri/T1-F1/a' },
      { name: 'b', url_private: 'https://slack.com/api/x', is_external: true },
    ]
    const found = read(event({ files }))
    const urls = found.kind === 'message' && found.files?.map(({ url }) => url)
    assert.deepEqual(urls, ['https://files.slack.com/files-pri/T1-F1/a', ''])
  })

  it('report the end of an installation, and answer a challenge', () => {
    const change = (changed: object) =>
      slackIntegration.changeOf(bytes(JSON.stringify({ ...event(changed), event_time: 7 })))
    assert.deepEqual(change({ type: 'app_uninstalled' }), { kind: 'revoked', atMs: 7_000 })
    assert.equal(change({ type: 'tokens_revoked', tokens: { bot: ['B1'] } })?.kind, 'revoked')
    assert.equal(change({ type: 'tokens_revoked', tokens: { oauth: ['U1'] } }), undefined)
    const body = bytes('{"type":"url_verification","challenge":"c","token":"t"}')
    assert.equal(slackIntegration.challengeOf(body), 'c')
  })
})

describe('a telling to Slack', () => {
  const thread: ExternalThread = {
    ...{ session: 'sesn_1', scope: 'C1:7.1', notes: {} },
    target: { channel: 'C1', thread: '7.1' },
  }
  const reply = { kind: 'reply', id: 'sevt_1', text: 'Ask <!channel>, @here and <@U1>.' } as const

  it('calls nobody, and is found again by its mark', () => {
    const call = slackIntegration.callFor(reply, thread)
    assert.equal(call?.path, '/chat.postMessage')
    const body = call.body ?? ''
    for (const mention of ['<!', '@here', '<@']) assert.ok(!body.includes(mention), mention)
    const { metadata } = JSON.parse(body) as { metadata: object }
    const found = (messages: object[]) =>
      slackIntegration.found(reply, thread, JSON.stringify({ messages }))
    assert.deepEqual(found([{ text: 'x' }, { metadata }]), { kind: 'found', notes: {} })
    const ask = { kind: 'question', id: reply.id, call: 'c', needs: 'confirmation' } as const
    const copied = JSON.stringify({
      messages: [
        { ts: '8.1', metadata },
        { ts: '8.2', metadata },
      ],
    })
    assert.deepEqual(slackIntegration.found({ ...ask, name: 'x', input: '' }, thread, copied), {
      ...{ kind: 'found', notes: { 'question c': '8.1' } },
    })
    assert.equal(found([{ metadata: { event_payload: { id: 'sevt_2' } } }]).kind, 'absent')
    assert.equal(slackIntegration.found(reply, thread, '{"messages":[').kind, 'unreadable')
    assert.ok(body.includes('"unfurl_media":false'), 'Slack fetches no address of an agent')
  })

  it('asks a question once, so that its buttons stay valid when people answer another one', () => {
    const ask = { kind: 'question', id: 'i.c', call: 'c', needs: 'confirmation' } as const
    const question = { ...ask, name: 'x', input: '' }
    const tell = (notes: ExternalThread['notes']) =>
      slackIntegration.callFor({ ...question, id: 'j.c' }, { ...thread, notes })
    assert.equal(tell({ 'question c': null })?.path, '/chat.postMessage')
    assert.equal(tell({ 'question other': '8.1' })?.path, '/chat.postMessage')
    assert.equal(tell({ 'question c': '8.1' }), null)
  })

  it('fits into a message, however many signs Slack has written in another way', () => {
    const text = '<!&'.repeat(20_000)
    const ask = { kind: 'question', id: 'e', call: 'c', needs: 'confirmation', name: 'x' } as const
    const message = z.object({
      markdown_text: z.string().max(12_000).optional(),
      blocks: z
        .array(z.object({ text: z.object({ text: z.string().max(3_000) }).optional() }))
        .optional(),
    })
    for (const telling of [
      { ...reply, text },
      { ...ask, input: text },
    ])
      message.parse(JSON.parse(slackIntegration.callFor(telling, thread)?.body ?? ''))
  })

  it('is refused in a body that says so with status 200', () => {
    const attempt = { attempts: 1, random: 0, nowMs: now }
    const verdict = (error: string, retryAfter: string | null = null) => {
      const body = JSON.stringify({ ok: false, error })
      return slackIntegration.verdict({ status: 200, retryAfter, body }, attempt)
    }
    assert.deepEqual(verdict('token_revoked'), { kind: 'needs_reauth' })
    const held = { kind: 'again', afterMs: 30_000, heldMs: 30_000 }
    assert.deepEqual(verdict('ratelimited', '30'), held)
    assert.deepEqual(verdict('internal_error'), { kind: 'again', afterMs: 10_000 })
    assert.deepEqual(verdict('channel_not_found'), { kind: 'failed' })
    const page = { status: 200, retryAfter: null, body: '<html>' }
    assert.equal(slackIntegration.verdict(page, attempt).kind, 'again')
  })
})
