/**
 * `npm run demo:workspace`: fills the workspace of a running server with agents and a hundred sessions of the offline
 * model, in every state that a console shows. Uses the public API alone.
 */
import { z } from 'zod'

const { API_KEY = '' } = process.env
const base = process.env['DEMO_URL'] ?? 'http://127.0.0.1:8787'
const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' }
const Made = z.looseObject({ id: z.string() })
const Listed = z.looseObject({ data: z.array(Made) })

async function ask(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(base + path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new Error(`no server answers at ${base}: start one, or name another by DEMO_URL`, {
      cause: error,
    })
  })
  const text = await response.text()
  if (response.status === 401)
    throw new Error('the server knows no such key: set API_KEY to a key of the workspace to fill')
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

const make = async (path: string, body: object): Promise<string> =>
  Made.parse(await ask('POST', path, body)).id

const tools = [{ type: 'agent_toolset_20260401' }]
const careful = [
  { type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } },
]
const askUser = {
  type: 'custom',
  name: 'ask_user',
  description: 'Asks a person a question.',
  input_schema: { type: 'object', properties: { question: { type: 'string' } } },
}

/** The agents, by name. A second run uses those of the first. */
async function makeAgents(): Promise<Record<string, string>> {
  const listed = Listed.parse(await ask('GET', '/v1/agents?limit=100'))
  const known = new Map(listed.data.map((agent) => [String(agent['name']), agent.id]))
  const wanted = {
    coder: { tools, system: 'You port code, and prove that it does what it did.' },
    reviewer: { tools: careful, system: 'You review changes. You ask before you touch anything.' },
    researcher: { tools, system: 'You compare sources, and say which you trust.' },
    analyst: { tools: [...tools, askUser], system: 'You read ledgers. You ask where they differ.' },
    triager: { tools: careful, system: 'You sort new issues by what they hurt.' },
  }
  const made: Record<string, string> = {}
  for (const [name, rest] of Object.entries(wanted))
    made[name] = known.get(name) ?? (await make('/v1/agents', { name, model: 'offline', ...rest }))
  return made
}

async function environmentNamed(name: string): Promise<string> {
  const listed = Listed.parse(await ask('GET', '/v1/environments?limit=100'))
  const known = listed.data.find((each) => each['name'] === name)
  return known?.id ?? make('/v1/environments', { name })
}

type Scene = { agent: string; title?: string; says: readonly string[]; budget?: string }

const code = `write importer.py: <<END
def rows(file):
    for line in file:
        yield line.rstrip().split(',')

END`

/** Sessions that each show something of their own. */
const scenes: readonly Scene[] = [
  {
    agent: 'reviewer',
    title: 'fix the flaky test',
    says: [
      'think: The test sleeps, and then compares.\nsay: I read the test. It waits for a time instead of an event.',
      'run: git push origin fix/flaky-timer',
    ],
  },
  {
    agent: 'analyst',
    title: 'weekly revenue report',
    says: [
      'call ask_user {"question":"Two ledgers disagree for 14 October. Which one should the report follow?"}',
    ],
  },
  {
    agent: 'triager',
    says: ['write triage/ACME-2214.md: Retry budget is counted twice after a restart'],
  },
  {
    agent: 'coder',
    title: 'port the importer to streams',
    says: [
      `${code}\nrun: python3 -c "import importer; print('ok')"\nsay: The importer reads line by line now.`,
      'wait: 600000',
    ],
  },
  { agent: 'researcher', title: 'compare three vendors of vector stores', says: ['wait: 600000'] },
  { agent: 'coder', title: 'sync the product catalogue', says: ['fail: request'] },
  { agent: 'coder', title: 'draft release notes', says: ['fail: authentication'] },
  {
    agent: 'coder',
    title: 'read a long log',
    says: ['run: for i in $(seq 1 400); do echo "line $i of the log"; done; exit 3'],
  },
  {
    agent: 'researcher',
    title: 'answer with a table and code',
    says: [
      'say: <<END\n# What I found\n\n| store | p95 | price |\n|---|--:|--:|\n| one | 12 ms | $40 |\n| two | 9 ms | $85 |\n\n```ts\nconst best = rows.toSorted((a, b) => a.p95 - b.p95)[0]\n```\n\nSee [the notes](https://example.com/notes).\nEND',
    ],
  },
]

const titles = [
  'nightly audit of dependencies',
  'summary of the week',
  'clean the fixtures',
  'index the handbook',
]

/** Ordinary sessions, whose titles come from their first message half of the time. */
const ordinary = (count: number): Scene[] =>
  Array.from({ length: count }, (_, index) => ({
    agent: ['coder', 'researcher', 'coder', 'analyst'][index % 4] ?? 'coder',
    ...(index % 2 === 0 && { title: `${titles[index % titles.length]} ${index + 1}` }),
    says: [
      `Please do part ${index + 1} of the list.\nrun: echo part ${index + 1}\nsay: Part ${index + 1} is done.`,
      ...(index % 5 === 0 ? [`say: And the follow-up of part ${index + 1}.`] : []),
    ],
  }))

async function play(
  { agent, title, says }: Scene,
  agents: Record<string, string>,
  environment_id: string,
): Promise<string> {
  const session = await make('/v1/sessions', {
    agent: agents[agent],
    environment_id,
    ...(title !== undefined && { title }),
  })
  for (const text of says) {
    await ask('POST', `/v1/sessions/${session}/events`, {
      events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
    })
    if (text !== says.at(-1)) await untilIdle(session)
  }
  return session
}

async function untilIdle(session: string): Promise<void> {
  for (;;) {
    const { status } = z
      .looseObject({ status: z.string() })
      .parse(await ask('GET', `/v1/sessions/${session}`))
    if (status !== 'running' && status !== 'pending') return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const count = 100
const agents = await makeAgents()
const environment = await environmentNamed('demo')
const all = [...ordinary(count - scenes.length), ...scenes]
let done = 0
for (const scene of all) {
  await play(scene, agents, environment)
  done++
  if (done % 10 === 0) console.log(`${done} of ${all.length} sessions`)
}
console.log(`The workspace is filled. Open ${base}/console`)
