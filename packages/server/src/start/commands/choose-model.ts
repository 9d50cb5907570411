/** The model of an agent that a command makes. */
import { maskUrl } from '@steward/base/settings/mask-url.ts'
import { z } from 'zod'
import { serverProgram } from '../../ground/config/settings.ts'
import { say } from './command-line.ts'
import { reasonOf, wordsOf } from './own-api.ts'

const { anthropic, openai } = serverProgram.settings.fallbackKeys

type ModelChoice = {
  /** How a person runs the command. */
  command: string
  /** The variables that name a model or its provider. */
  environment: Readonly<Record<string, string | undefined>>
}

/** Parts of the names of models that answer no conversation. */
const noChat =
  /embed|rerank|whisper|tts|transcri|speech|moderation|dall-e|image|clip|(^|[/-])(bge|e5|gte)-/i
const shownNames = 8

/** The names of the models that a local server, or another one that speaks OpenAI's wire, offers. */
async function listModels(root: string, apiKey = 'none'): Promise<string[]> {
  const shown = maskUrl(root)
  const authorization = `Bearer ${apiKey}`
  const response = await fetch(`${root}/v1/models`, { headers: { authorization } }).catch(
    (error: unknown) => {
      throw new Error(`the model server at ${shown} does not answer (${reasonOf(error)})`)
    },
  )
  const text = await response.text()
  if (!response.ok)
    throw new Error(
      `the model server at ${shown} does not list its models (${response.status} ${wordsOf(text)}): check ${openai.apiKey.name}, or name a model by MODEL`,
    )
  const { data } = z
    .looseObject({ data: z.array(z.looseObject({ id: z.string() })).nullish() })
    .parse(JSON.parse(text))
  return (data ?? []).map(({ id }) => id)
}

async function chooseListed(root: string, { command, environment }: ModelChoice): Promise<string> {
  const shown = maskUrl(root)
  const all = await listModels(root, environment[openai.apiKey.name])
  const found = all.filter((name) => !noChat.test(name))
  const [first] = found
  if (first === undefined) {
    const none = all.length > 0 ? `no model that can chat (${all.join(', ')})` : 'no model'
    throw new Error(`the model server at ${shown} offers ${none}: pull one, or name one by MODEL`)
  }
  const names = found.slice(0, shownNames).join(', ')
  const more = found.length > shownNames ? ` and ${found.length - shownNames} more` : ''
  say(
    `Taking the model ${first} of ${shown}, which offers ${names}${more}; MODEL=NAME ${command} takes another.`,
  )
  return first
}

/** The model that the variables name, or the first that their provider suits. */
export async function chooseModel(choice: ModelChoice): Promise<string> {
  const { environment } = choice
  const { MODEL } = environment
  if (MODEL) return MODEL
  if (environment[anthropic.apiKey.name]) return 'claude-sonnet-4-6'
  const baseUrl = environment[openai.baseUrl.name]
  if (baseUrl) return chooseListed(baseUrl.replace(/\/(v1\/?)?$/, ''), choice)
  return environment[openai.apiKey.name] ? 'gpt-5.2' : 'offline'
}
