/** Stores every secret in the service and creates sessions that may use them. */
import assert from 'node:assert/strict'
import { declareServer } from '../mcp.ts'
import { fresh, message } from '../turns.ts'
import type { Canary } from './canary.ts'
import { canaryOf } from './canary.ts'
import { toolsOf } from './script.ts'
import { curious } from './registry.ts'
import type { CanaryContents, CanarySecrets } from './secrets.ts'
import { authsOf, cardsOf, referringAuth, serversOf } from './secrets.ts'
import type { Readouts } from './readouts.ts'

export type SecretSetup = {
  vault: string
  environment: string
  /** Session of the agent that searches for secrets. */
  session: string
  /** Deployment whose sessions fail, because their repository does not exist. */
  deployment: string
  /** Another session of the same agent. */
  other: string
  /** Sessions that fail: the model refuses, the repository does not exist, or the packages cannot be installed. */
  failing: string[]
}

type SetupScene = { secrets: CanarySecrets; control: Canary; contents: CanaryContents }

/** Creates a key, which the service shows once, and adds it to the canaries. */
export async function issueKey(
  { reveal }: Readouts,
  canaries: Canary[],
  name: string,
  path: string,
  body: object,
): Promise<string> {
  const shown = await reveal(path, body)
  const secret = String(shown['key'] ?? shown['token'] ?? shown['secret'])
  // The prefix of a webhook secret is public.
  const core = /^whsec_(.*)=$/.exec(secret)?.[1]
  canaries.push(canaryOf(name, secret, core))
  return secret
}

export async function setUpSecrets(
  { ask, reveal }: Readouts,
  { secrets, control, contents, port }: SetupScene & { port: number },
): Promise<SecretSetup> {
  const make = async (path: string, body: object): Promise<string> => {
    const { status, body: made } = await ask('POST', path, body)
    assert.ok(status < 300, `${path}: ${JSON.stringify(made)}`)
    return made.id
  }
  const vault = await make('/v1/vaults', {
    name: fresh('vault'),
    credentials: authsOf(secrets).map((auth) => ({ auth })),
  })
  // A reference is for admins.
  await reveal(`/v1/vaults/${vault}/credentials`, { auth: referringAuth })
  const { taken, refused, ofCloud } = cardsOf(secrets, port)
  await make('/v1/ext/model_cards', taken)
  await make('/v1/ext/model_cards', ofCloud)
  assert.equal((await ask('POST', '/v1/ext/model_cards', refused)).status, 400)
  const environment = await make('/v1/environments', { name: fresh('environment') })
  const head = '---\nname: notes\ndescription: how we do it\n---\n'
  const skillFile = { filename: 'notes/SKILL.md', content: head + contents.skill.secret }
  const skill_id = await make('/v1/skills', { files: [skillFile] })
  const memory_store_id = await make('/v1/memory_stores', { name: 'notes' })
  const memory = { path: '/note', content: contents.memory.secret }
  await make(`/v1/memory_stores/${memory_store_id}/memories`, memory)
  const building = await make('/v1/environments', {
    name: fresh('environment'),
    packages: { npm: [curious] },
  })
  const agentOn = (model: string) =>
    make('/v1/agents', {
      name: fresh('agent'),
      model,
      system: `you are ${control.secret}`,
      tools: toolsOf(),
      skills: [{ type: 'custom', skill_id, version: 'latest' }],
      mcp_servers: serversOf(secrets),
    })
  const agent = await agentOn('offline')
  const sessionOf = (of: string | object, more: object = {}) =>
    make('/v1/sessions', { agent: of, environment_id: environment, vault_ids: [vault], ...more })
  const token = { authorization_token: secrets.inlineOfSession.secret }
  const repository = {
    type: 'github_repository',
    url: 'https://github.com/one/two',
    authorization_token: secrets.repository.secret,
  }
  const deployment = await make('/v1/deployments', {
    ...{ name: fresh('deployment'), agent, environment_id: environment, vault_ids: [vault] },
    ...{ initial_events: [message('say: deployed')], resources: [repository] },
  })
  const { body: run } = await ask('POST', `/v1/deployments/${deployment}/run`)
  return {
    vault,
    deployment,
    environment,
    session: await sessionOf(agent),
    other: await sessionOf(
      {
        type: 'agent_with_overrides',
        id: agent,
        mcp_servers: [{ ...declareServer('mcp-session.api.example', 'told'), ...token }],
      },
      { resources: [{ type: 'memory_store', memory_store_id }] },
    ),
    failing: [
      await sessionOf(await agentOn('walled')),
      await sessionOf(await agentOn('gpt-of-the-operator')),
      await sessionOf(await agentOn('clouded')),
      await sessionOf(await agentOn('of-a-gateway')),
      String(run['session_id']),
      await sessionOf(agent, { environment_id: building }),
    ],
  }
}
