/** The general parts of the published description of `/v1`: its introduction, sections, errors and streams. */
import { ErrorResponse } from '@steward/protocol/errors.ts'
import { LiveEventShown } from '@steward/protocol/shown-live-events.ts'
import { describeErrors } from '../../ground/http/errors.ts'
import type { DescribedSurface } from '../../ground/http/openapi/openapi.ts'

const sentences: Record<string, string> = {
  Health: 'Whether the service answers and can do its work, and this OpenAPI document.',
  Agents:
    'An agent is a model with instructions, tools, MCP servers and skills. Each change makes a new version.',
  Environments:
    'An environment says where the commands of a session run: its packages, its network and its variables.',
  Sessions:
    'A session is one conversation with an agent in an environment, with the resources it works on.',
  Events:
    'Everything said and done in a session is an event in its log. Post events, list them, or follow them as a stream of server-sent events (SSE).',
  'The stream of a workspace':
    'One connection (SSE) that tells which sessions change, and carries the events of those that a reader watches.',
  'The working folder':
    'The files that a session works on, live or from its newest checkpoint, and what has changed in them.',
  'Rules of a company':
    'What workspaces may name, for how long things are kept, legal holds, and the data of a person.',
  Threads:
    'Agents that work together (sub-agents) have threads of one session. Here are these threads, and the events of each.',
  Outputs: 'Files that a session has published for people.',
  Files: 'Files of the workspace: upload, list, download and delete them.',
  Models:
    'The models that the workspace can run. A model card says how a model is reached: its provider, its address and its key.',
  Messages:
    'Ask a model of the workspace without a session, as the official client does. Where the operator has not switched it on, 404.',
  'API keys':
    'The keys of the workspace: workspace keys, workspace-admin keys and environment keys.',
  'Sign-in':
    'People sign in with a password, a code by email or an identity provider (SSO). Their session cookie opens what their role in a workspace opens.',
  OAuth:
    'Clients act for people without an API key: by a code of the page of consent, by a code that a person types, and by refresh tokens.',
  Organisation: 'The workspaces that the caller belongs to.',
  Audit: 'Who changed what, when, from where and with which credential, chained by hashes.',
  Members: 'Who belongs to the workspace, and who is invited.',
  Vaults:
    'A vault holds credentials for MCP servers, command lines and HTTP requests. No answer contains a secret.',
  'Agent identity':
    'How servers verify the tokens by which an agent proves who it is, where a credential of the type `agent_identity` sends one.',
  'Memory stores':
    'A memory store holds texts by path that outlive a session, with every version of each text. Send the header `anthropic-beta: agent-memory-2026-07-22`.',
  Skills:
    'A skill is a folder of instructions and programs that an agent loads when a task needs it.',
  'Credential proxy': "Requests to the MCP servers of a session, with the session's credentials.",
  'Egress profiles': 'The only way out of a sandbox that runs on a worker.',
  Workers:
    'Workers claim the sessions of a self-hosted environment, hold them by a lease, and read and write what the sessions work on.',
  'MCP servers': 'The stdio MCP servers of a session, which its worker starts.',
  Deployments:
    'A deployment runs an agent on a schedule (cron), by hand or by a signed request. Each run has a session of its own.',
  Dreams:
    'A dream is a session in which an agent reads past sessions and reorganises a memory store.',
  Evals:
    'An eval runs an agent over samples, scores each trial by graders, and compares runs. A dataset keeps samples in versions.',
  Replays: 'A session again, by its record, with another agent, up to where they differ.',
  Usage: 'What a workspace has used, by the hour and by model, and its cost at list prices.',
  Limits:
    'Rate limits, quotas and spend limits: how many requests a workspace may make, what it may hold, and what it may cost.',
  Integrations:
    'GitHub, Linear, Slack and other systems outside send requests of their people to an agent, and get its answers. A publication says which agent serves which system.',
  Webhooks:
    'Your endpoints, which receive signed events of a workspace, and what was delivered to each.',
}

const introduction = [
  'The API reference of Steward, as an OpenAPI document. The official client `@anthropic-ai/sdk` works with this API unmodified.',
  '`x-extension: true` marks operations, schemas and fields that the official API does not have.',
  'All operations below `/v1/ext/` are extensions. An operation with `x-alias-of` does the same as the operation that it names.',
  'A request with the header `anthropic-version` is answered in the words of that client.',
].join('\n')

export const apiDescription: DescribedSurface = {
  title: 'Steward',
  summary: 'A self-hosted, multi-tenant service for running AI agents.',
  introduction,
  tags: { of: ({ section }) => section, sentences },
  error: {
    schema: ErrorResponse,
    description: describeErrors(),
    requestIdHeader: 'request-id',
  },
  stream: {
    description:
      'Server-sent events; the data of each is one `SessionEvent` or `LiveSessionEvent` as JSON.',
    events: [LiveEventShown],
  },
}
