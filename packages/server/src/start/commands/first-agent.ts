/** `npm start -- first-agent`: an environment and an agent in a workspace that has none, by the public API. */
import { z } from 'zod'
import { chooseModel } from './choose-model.ts'
import { printLine } from './command-line.ts'
import type { OwnApi } from './own-api.ts'
import { list, make } from './own-api.ts'

type FirstAgentOptions = OwnApi & {
  /** The variables that name a model or its provider. */
  environment: Readonly<Record<string, string | undefined>>
}

const Named = z.looseObject({ id: z.string(), name: z.string() })

/** Prints what there is. `body`: what to make where the list is empty. */
async function makeFirst(
  api: OwnApi,
  { path, noun }: { path: string; noun: string },
  body: () => Promise<object>,
): Promise<void> {
  const [found] = await list(api, path)
  if (found !== undefined) {
    const { id, name } = Named.parse(found)
    printLine(`the workspace has ${noun} already: ${name} (${id})`)
    return
  }
  printLine(`made ${noun} (${await make(api, path, await body())})`)
}

/** Changes nothing where the workspace has an environment and an agent. */
export async function makeFirstAgent({ environment, ...api }: FirstAgentOptions): Promise<void> {
  const environments = { path: '/v1/environments', noun: 'an environment' }
  await makeFirst(api, environments, async () => ({ name: 'default' }))
  await makeFirst(api, { path: '/v1/agents', noun: 'an agent' }, async () => ({
    name: 'assistant',
    model: await chooseModel({ command: 'first-agent', environment }),
    system: 'You are a careful assistant. Work in your working folder.',
    tools: [{ type: 'agent_toolset_20260401' }],
  }))
}
