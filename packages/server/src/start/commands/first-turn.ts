/** The second half of the first command: an agent, an environment and a session by the public API, and one turn. */
import { z } from 'zod'
import { chooseModel } from './choose-model.ts'
import { printLine, say } from './command-line.ts'
import type { OwnApi } from './own-api.ts'
import { make, post, reasonOf } from './own-api.ts'

export type FirstTurn = OwnApi & {
  /** Folder with the key of the trial. */
  dataFolder: string
  /** The way to the first sign-in, while nobody has signed in. */
  signInLink: string | undefined
  /** How a person runs the trial: `./try`. */
  command: string
  /** The variables that name a model or its provider. */
  environment: Readonly<Record<string, string | undefined>>
}

/** The offline model gets commands; any other model gets the task in words. */
const taskFor = (model: string): string =>
  model === 'offline'
    ? [
        'write primes.mjs:',
        'const primes = []',
        'for (let n = 2; primes.length < 10; n++) if (primes.every((p) => n % p)) primes.push(n)',
        "console.log('the first ten primes:', primes.join(' '))",
        '',
        'run: node primes.mjs',
      ].join('\n')
    : 'Write a small Node.js program in your working folder that prints the first ten primes, run it, and tell me what it printed.'

const dim = (text: string) => (process.stdout.isTTY ? `\u001b[2m${text}\u001b[0m` : text)
const Shown = z.looseObject({
  type: z.string(),
  seq: z.number().nullish(),
  delta: z.string().optional(),
})

/** Prints streamed text piece by piece, and every other event in one line. */
function print(event: z.infer<typeof Shown>, state: { open: boolean; failed: boolean }): void {
  if (event.type === 'session.error') state.failed = true
  if (event.type === 'agent.message') state.failed = false
  if (event.type === 'agent.message_chunk') {
    if (!state.open) process.stdout.write('    ')
    state.open = true
    process.stdout.write(event.delta ?? '')
    return
  }
  // An event without a number is live only: a piece of text, or a message that waits for its turn.
  if (typeof event.seq !== 'number') return
  if (state.open) process.stdout.write('\n')
  state.open = false
  const {
    id: _id,
    type,
    session_id: _session,
    seq,
    created_at: _at,
    processed_at: _then,
    data,
    ...rest
  } = event
  const detail = JSON.stringify(data ?? rest)
  printLine(
    `${String(seq ?? '').padStart(3)} ${type.padEnd(28)} ${dim(detail.length > 160 ? `${detail.slice(0, 160)}…` : detail)}`,
  )
}

/** Returns whether the turn failed. */
async function follow(response: Response): Promise<boolean> {
  const state = { open: false, failed: false }
  let text = ''
  for await (const piece of (response.body ?? new Blob([]).stream()).pipeThrough(
    new TextDecoderStream(),
  )) {
    text += piece
    const frames = text.split('\n\n')
    text = frames.pop() ?? ''
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1]
      if (data) print(Shown.parse(JSON.parse(data)), state)
    }
  }
  return state.failed
}

const signInText = (link: string | undefined): string =>
  link === undefined
    ? ''
    : `
Nobody has signed in yet. Open this link first; it works once:

  ${link}
`

/** What a person can do next. */
const nextSteps = (trial: FirstTurn, session: string, message: string): string => {
  const { base, command, dataFolder, signInLink } = trial
  return `
The server goes on at ${base} (${command} stop ends it). Watch this session in the console:

  ${base}/console/sessions/${session}
${signInText(signInLink)}
Talk to it with curl:

  export URL=${base} KEY=$(cat ${dataFolder}/api-key)
  curl -N $URL/v1/sessions/${session}/messages -H "x-api-key: $KEY" \\
    -H 'content-type: application/json' -d '{"content": "${message}"}'

or with the official client, unmodified:

  import Anthropic from '@anthropic-ai/sdk'
  const client = new Anthropic({ baseURL: process.env.URL, apiKey: process.env.KEY })
  for await (const event of client.beta.sessions.events.list('${session}')) console.log(event.type)
`
}

async function run(trial: FirstTurn): Promise<void> {
  const model = await chooseModel(trial)
  const name = `first-steps-${Date.now().toString(36)}`
  const agent = await make(trial, '/v1/agents', {
    name,
    model,
    system: 'You are a careful programmer. Work in your working folder.',
    tools: [{ type: 'agent_toolset_20260401' }],
  })
  const environment_id = await make(trial, '/v1/environments', { name })
  const session = await make(trial, '/v1/sessions', { agent, environment_id, title: 'First steps' })
  printLine(`\nAn agent (${agent}) with the model ${model} works in session ${session}:\n`)
  const path = `/v1/sessions/${session}/messages`
  const isFailed = await follow(await post(trial, path, { content: taskFor(model) }))
  if (isFailed) {
    say('The turn failed; session.error above says why.')
    process.exitCode = 1
  }
  const isOffline = model === 'offline'
  const message = isOffline ? 'run: ls -l' : 'Which files are in your working folder?'
  printLine(nextSteps(trial, session, message))
}

/** Prints each event of the turn. Sets the exit code to 1 when the turn, or a request before it, has failed. */
export async function runFirstTurn(trial: FirstTurn): Promise<void> {
  await run(trial).catch((error: unknown) => {
    say(reasonOf(error))
    process.exitCode = 1
  })
}
