/**
 * `npm run demo:integrations`: an agent works in Linear, GitHub and Slack, each a stub on this machine, from
 * installation to answer.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonLog } from '@steward/base/log.ts'
import { readConfig } from '@steward/server/ground/config/config.ts'
import { startService } from '@steward/server/start/start.ts'
import { z } from 'zod'
import {
  deliverGithub,
  githubComment,
  githubLineComment,
  githubSettings,
  githubStub,
  returnFrom,
} from '../conformance/github.ts'
import { deliverLinear, linearEvent, linearSettings, linearStub } from '../conformance/linear.ts'
import { startReceiver } from '../conformance/receiver.ts'
import {
  deliverSlack,
  slackMention,
  slackMessage,
  slackPress,
  slackSettings,
  slackStub,
} from '../conformance/slack.ts'
import { asking } from '../conformance/turns.ts'
import { until } from '../conformance/until.ts'
import { startReader } from './demo-reader.ts'

const apiKey = 'stw_key_of_the_demo'
const say = (text: string): void => console.log(text.replaceAll(/^(?=.)/gm, '  '))
const heading = (text: string): void => console.log(`\n${text}`)

const receiver = await startReceiver()
const linear = linearStub()
const github = githubStub([{ id: 42, login: 'acme' }])
const slack = slackStub('')
const reader = await startReader()
receiver.answerWith(
  (posted) =>
    linear.answer(posted) ?? github.answer(posted) ?? slack.answer(posted) ?? { status: 404 },
)

const folder = await mkdtemp(join(tmpdir(), 'steward-demo-'))
const { INTEGRATIONS_SLACK_APP_TOKEN: _socket, ...slackHooks } = slackSettings(receiver.base)
const settings = readConfig({
  PORT: '0',
  DATA_DIR: folder,
  SANDBOX_USERS: 'shared',
  PLATFORM_ROOT_SECRET: 'the root secret of the demo',
  API_KEY: apiKey,
  EGRESS_ALLOW_PRIVATE: '127.0.0.0/8,::1',
  EGRESS_TENANT_TARGETS: '127.0.0.0/8:*',
  ...linearSettings(receiver.base),
  ...githubSettings(receiver.base),
  ...slackHooks,
})
if (!settings.ok) throw new Error(settings.problems.join('\n'))
const log = jsonLog((line) => void (line.includes('"error"') && console.error(line)))
const server = await startService(settings.config, log)
const base = `http://127.0.0.1:${server.port}`

const Answer = z.looseObject({ id: z.string().optional(), url: z.string().optional() })

async function ask(method: 'GET' | 'POST', path: string, body?: object) {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(base + path, { method, headers, ...sent })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return Answer.parse(await answer.json())
}

const { id: environment } = await ask('POST', '/v1/environments', { name: 'demo' })
const { id: agent } = await ask('POST', '/v1/agents', {
  name: 'demo',
  model: 'offline',
  tools: asking,
})
await ask('POST', '/v1/ext/model_cards', {
  ...{ model_id: 'reader', provider: 'ant-compatible', model: 'reader' },
  ...{ base_url: reader.url, api_key: 'a key of the demo' },
})
const { id: readingAgent } = await ask('POST', '/v1/agents', { name: 'reader', model: 'reader' })

type App = 'linear' | 'github' | 'slack'

/** Installs the app as a person does, who returns from the provider with a code, and creates a publication. */
async function installAndPublish(kind: App, source: object): Promise<string> {
  const path = `/v1/ext/integrations/${kind}`
  const { url = '' } = await ask('POST', `${path}/install`, {})
  const state = new URL(url).searchParams.get('state') ?? ''
  const brought = { code: 'a code', state, installation_id: '42' }
  const { status, body } = await returnFrom({ base }, kind, new URLSearchParams(brought))
  if (status !== 200) throw new Error(`the installation: ${status} ${JSON.stringify(body)}`)
  const { id: installation } = body
  const id = await publish(kind, installation, { agent, [kind]: source })
  say(`installed in Acme as ${installation}; the agent is published as ${id}`)
  return installation
}

async function publish(kind: App, installation: string, fields: object): Promise<string> {
  const { id = '' } = await ask('POST', `/v1/ext/integrations/${kind}/publications`, {
    ...{ environment_id: environment, installation_id: installation },
    ...fields,
  })
  return id
}

async function showLinear(): Promise<void> {
  heading('Linear: Ada delegates the issue ENG-7 to the app')
  await installAndPublish('linear', { teams: ['ENG'], authors: ['ada@acme.example'] })
  const types = () => linear.activities.map(({ content }) => content.type)
  await deliverLinear({ base }, linearEvent('session'))
  await until(() => types().includes('elicitation'))
  const asked = linear.activities.length
  const show = ({ content }: (typeof linear.activities)[number]) => {
    if (content.type !== 'action') return say(`${content.type}: ${content.body}`)
    const result = content.result === undefined ? '' : ` → ${content.result.trim()}`
    say(`action: ${content.action} ${content.parameter}${result}`)
  }
  linear.activities.forEach(show)
  say('Ada: allow')
  await deliverLinear({ base }, linearEvent('session', { id: 'prompt', body: 'allow' }))
  await until(() => types().includes('response'))
  linear.activities.slice(asked).forEach(show)
}

const withoutMark = (body = ''): string => body.replaceAll(/<!--.*?-->/g, '').trim()

async function showGithub(): Promise<void> {
  heading('GitHub: Ada mentions the app on an issue of acme/shop')
  const source = { repositories: ['acme/shop'], authors: ['ada'] }
  const installation = await installAndPublish('github', source)
  const comment = (number: number) => withoutMark([...github.comments.values()].at(number)?.body)
  const send = (text: string, at: string) =>
    deliverGithub(base, 'issue_comment', githubComment(1, text, { at }))
  say('Ada: @steward run: echo hello from an issue')
  await send('@steward\nrun: echo hello from an issue', '2030-01-01T00:00:00Z')
  await until(() => comment(0).includes('approve'))
  say(comment(0))
  say('Ada: @steward approve')
  await send('@steward approve', '2030-01-01T00:00:01Z')
  await until(() => comment(-1).includes('Done.'))
  say(comment(-1))

  heading('GitHub: Ada asks another agent on a line of a pull request, in a thread of that line')
  await publish('github', installation, { agent: readingAgent, name: 'reader', github: source })
  const at = '2030-01-02T00:00:00Z'
  github.around.lines.set(1, [{ id: 70, login: 'bob', body: 'Why not total?', at }])
  say('bob: Why not total?')
  say('Ada: @steward reader what does this line say now?')
  await deliverGithub(
    base,
    'pull_request_review_comment',
    githubLineComment('@steward reader what does this line say now?', { id: 71, thread: 70, at }),
  )
  const reply = () => withoutMark(github.around.replies.at(-1)?.body)
  await until(() => reply().includes('is now'))
  say(`reply in the thread: ${reply()}`)
}

async function showSlack(): Promise<void> {
  heading('Slack: Ada writes to the app')
  const installation = await installAndPublish('slack', { channels: [], authors: ['UADA'] })
  say('Ada: run: echo hello from a chat')
  await deliverSlack({ base }, slackMessage('run: echo hello from a chat', '1.1'))
  await until(() => slack.messages.length === 1)
  const [question] = slack.messages
  const Buttons = z.object({
    elements: z.array(z.object({ action_id: z.string(), value: z.string() })),
  })
  const { elements } = Buttons.parse(question?.blocks?.at(-1))
  say(`${question?.text} [${elements.map(({ action_id }) => action_id).join('] [')}]`)
  say('Ada presses the first button')
  await deliverSlack({ base }, slackPress(elements[0] ?? {}, question), { isForm: true })
  await until(() => slack.messages.length === 2)
  say(slack.messages[1]?.markdown_text ?? '')

  heading('Slack: Ada calls another agent into a thread of others')
  const source = { channels: ['C1'], authors: ['UADA'] }
  await publish('slack', installation, { agent: readingAgent, name: 'reader', slack: source })
  for (const [id, name] of Object.entries({ UBOB: 'bob', UCY: 'cy' }))
    slack.people.set(id, { id, team_id: 'T1', name, profile: { display_name: name } })
  const thread = '100.000000'
  const said = [
    { user: 'UBOB', text: 'The build is slow since Monday.' },
    { user: 'UCY', text: 'It downloads the browser each time.' },
    { user: 'UBOB', text: 'Then we keep it in a cache.' },
  ]
  for (const [n, { user, text }] of said.entries()) {
    const ts = `100.00000${n}`
    slack.said.push({ channel: 'C1', ts, user, text, ...(n > 0 && { thread_ts: thread }) })
    say(`${user === 'UBOB' ? 'bob' : 'cy'}: ${text}`)
  }
  say('Ada: @steward reader summarise this thread')
  await deliverSlack({ base }, slackMention('reader summarise this thread', '100.5', { thread }))
  await until(() => slack.messages.some((each) => each.thread_ts === thread && !each.isStream))
  say(slack.messages.at(-1)?.markdown_text ?? '')
}

try {
  await showLinear()
  await showGithub()
  await showSlack()
} finally {
  await server.close()
  await reader[Symbol.asyncDispose]()
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
}
