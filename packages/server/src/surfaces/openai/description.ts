/** The general parts of the published description of `/openai/v1`: its introduction, groups, errors and streams. */
import { OpenAIError } from '@steward/protocol/openai/errors.ts'
import type { DescribedSurface } from '../../ground/http/openapi/openapi.ts'
import { describeErrors } from './errors.ts'

const sentences: Record<string, string> = {
  Health: 'This description.',
  Agents:
    'An agent is a model with instructions and tools. A session keeps the agent as it was when the session was created.',
  Sessions:
    'A session is one conversation with an agent in an environment. Send events to it, and follow its events as a stream.',
  Turns:
    'A turn is the work from a message to the moment in which the session waits again. Its items are messages, calls and their results.',
  Subagents: 'A subagent is an agent that the agent of a session has started.',
  Traces: 'The spans of the turns of a session, as OpenTelemetry writes them in JSON.',
  Artifacts: 'An artifact is a file that a session has published for people.',
  Automations: 'An automation runs an agent on a schedule (cron). Each run is an invocation.',
  Environments:
    'An environment is where the commands of a session run. A template holds what several environments share.',
  Files: 'Files of the workspace: upload, list, download and delete them.',
  Skills:
    'A skill is a folder of instructions and programs that an agent loads when a task needs it.',
  Vaults: 'A vault holds credentials for MCP servers and commands. No answer contains a secret.',
}

/**
 * The last of these segments in a path decides the path's group. The list follows the nesting of paths, inner segments
 * first.
 */
const groups: [segment: string, group: string][] = [
  ['subagents', 'Subagents'],
  ['turns', 'Turns'],
  ['items', 'Turns'],
  ['traces', 'Traces'],
  ['artifacts', 'Artifacts'],
  ['sessions', 'Sessions'],
  ['automations', 'Automations'],
  ['environments', 'Environments'],
  ['files', 'Files'],
  ['skills', 'Skills'],
  ['vaults', 'Vaults'],
  ['agents', 'Agents'],
]

const groupOf = (path: string): string => {
  const segments = path.split('/')
  return groups.find(([segment]) => segments.includes(segment))?.[1] ?? 'Health'
}

const introduction = [
  'The OpenAI-compatible API: the OpenAI Agents API over the agents, sessions, environments and vaults of Steward.',
  'Code for `client.beta.agents` and `client.beta.vaults` of the npm package `openai` works once its `baseURL` ends with `/openai/v1` and its `apiKey` is a key of the workspace.',
  'What is made here is there on `/v1` too, which `/openapi.json` describes.',
  '`x-extension: true` marks what that client does not know.',
].join('\n')

export const openaiDescription: DescribedSurface = {
  title: 'Steward: the OpenAI-compatible API',
  summary: 'The OpenAI Agents API over a self-hosted, multi-tenant service for running AI agents.',
  introduction,
  tags: { of: ({ path }) => groupOf(path), sentences },
  error: { schema: OpenAIError, description: describeErrors(), requestIdHeader: 'x-request-id' },
  stream: {
    description:
      'Server-sent events; the data of each is JSON, whose `type` begins with `agent.session.`. An event has a `session`, a turn, an item or a piece of text.',
    events: [],
  },
}
