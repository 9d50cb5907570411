/**
 * The tools with which an agent starts other agents of its session and talks with them. The session runs them without a
 * sandbox.
 */
import { advisorName } from '@steward/protocol/multiagent.ts'
import { z } from 'zod'
import type { InlineAgent, ThreadEffect } from '../threads.ts'
import type { Tool, ToolResult } from './tool.ts'
import { textResult } from './tool.ts'

/** The state of a thread, as the agent reads it. */
export type ThreadLine = {
  session_thread_id: string
  agent_name: string
  status: 'running' | 'idle'
  /** The reason why the thread is idle. */
  stop_reason?: string
}

/** The other agents of a session. The process that runs the session provides this interface. */
export type ThreadTeam = {
  members: readonly { name: string; description: string | null }[]
  /** True when an agent may define agents. */
  allowsInline: boolean
  newThreadId: () => string
  list: () => Promise<ThreadLine[]>
  /**
   * Resolves when one of the threads has ended its turn, or when none of them works. Without `threads`, watches all
   * threads. When the time is over or the signal aborts, resolves with the present state.
   */
  settled: (
    threads: readonly string[] | undefined,
    timeoutMs: number,
    signal: AbortSignal,
  ) => Promise<{ finished: string[]; threads: ThreadLine[] }>
}

export const textSchema = (description: string) => ({ type: 'string', description })
const threadId = textSchema('The session_thread_id that create_agent or list_agents returned.')
const message = textSchema(
  'What the agent is to do, and all that it needs to know: it sees nothing of your conversation.',
)

export const objectSchema = (properties: Record<string, object>, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** The tool whose call lasts until other threads have come to rest. */
export const waitTool = 'wait_for_agents'

const waitLimitsMs = { usual: 600_000, most: 3_600_000 }

/** The schemas are the same objects in every turn; see `Tool.input_schema`. */
const schemas = {
  byName: objectSchema({ agent: textSchema('The name of an agent of the list.'), message }, [
    'agent',
    'message',
  ]),
  byNameOrInline: objectSchema(
    {
      agent: textSchema('The name of an agent of the list. Leave it out to define an agent.'),
      name: textSchema('A short name for the agent that you define.'),
      system: textSchema('The instructions of the agent that you define.'),
      model: textSchema('The model of the agent that you define. Your own when left out.'),
      message,
    },
    ['message'],
  ),
  send: objectSchema({ session_thread_id: threadId, message }, ['session_thread_id', 'message']),
  list: objectSchema({}, []),
  wait: objectSchema(
    {
      session_thread_ids: {
        type: 'array',
        items: { type: 'string' },
        description: 'The threads to wait for. All of them when left out.',
      },
      timeout_ms: {
        type: 'integer',
        minimum: 0,
        maximum: waitLimitsMs.most,
        description: `How long to wait at most, in milliseconds. ${waitLimitsMs.usual} when left out.`,
      },
    },
    [],
  ),
}

const Create = z.object({
  agent: z.string().optional(),
  name: z.string().optional(),
  system: z.string().optional(),
  model: z.string().optional(),
  message: z.string(),
})
const Send = z.object({ session_thread_id: z.string(), message: z.string() })
const Wait = z.object({
  session_thread_ids: z.array(z.string()).optional(),
  timeout_ms: z.number().optional(),
})

const shown = (value: object, effect?: ThreadEffect): ToolResult => ({
  ...textResult(JSON.stringify(value)),
  ...(effect && { effect }),
})

/** A tool on threads. Its effect happens only together with the result, so a call without a result may be repeated. */
export const threadTool = (
  name: string,
  input_schema: Tool['input_schema'],
  description: string,
  run: Tool['run'],
): Tool => ({
  ...({ runs: 'here', input: 'checked', permission: 'allow', repeat: 'safe' } as const),
  ...({ sandbox: 'unused', prepare() {} } as const),
  name,
  description,
  input_schema,
  run,
})

export function threadTools(team: ThreadTeam): Tool[] {
  const { members, allowsInline } = team
  const roster = members.map(
    ({ name, description }) => `- ${name}${description ? `: ${description}` : ''}`,
  )
  const choices = [
    ...(members.length > 0 ? [`Agents of the list:\n${roster.join('\n')}`] : []),
    ...(allowsInline
      ? [
          'You may define an agent in place of naming one: give name and system, and no agent. It has your tools.',
        ]
      : []),
  ].join('\n\n')

  function create(input: z.infer<typeof Create>): ToolResult {
    const agent = chosen(input, team)
    if ('refused' in agent) return textResult(agent.refused, true)
    const { message } = input
    const thread = team.newThreadId()
    const effect = { kind: 'create', thread, agent: agent.agent, message } as const
    const agent_name = typeof agent.agent === 'string' ? agent.agent : agent.agent.name
    return shown({ session_thread_id: thread, agent_name }, effect)
  }

  return [
    threadTool(
      'create_agent',
      allowsInline ? schemas.byNameOrInline : schemas.byName,
      `Starts an agent as a thread of this session, and returns at once. The agent works in the background, beside you and other agents, with its own conversation; it shares your files. Its last message comes to you when it has finished; wait_for_agents waits for it.\n\n${choices}`,
      async (input) => create(Create.parse(input)),
    ),
    threadTool(
      'send_to_agent',
      schemas.send,
      'Sends a message to an agent that you started. It keeps its conversation: use it for a follow-up instead of a new agent. An agent that works reads the message when its turn has ended.',
      async (input) => {
        const { session_thread_id: thread, message } = Send.parse(input)
        return shown({ delivered: true }, { kind: 'send', thread, message })
      },
    ),
    threadTool(
      'list_agents',
      schemas.list,
      'Lists the agents that you may start, and the agents that you have started with what they are at.',
      async () => shown({ agents: members, threads: await team.list() }),
    ),
    threadTool(
      waitTool,
      schemas.wait,
      'Waits until an agent that you started has finished, or none works any more. The messages of those that have finished follow the result. Call it again to wait for the others.',
      async (input, { signal }) => {
        const { session_thread_ids, timeout_ms = waitLimitsMs.usual } = Wait.parse(input)
        const { finished, threads } = await team.settled(session_thread_ids, timeout_ms, signal)
        if (signal.aborted) return textResult('interrupted while it waited', true)
        return shown({ finished, threads }, { kind: 'receive', threads: finished })
      },
    ),
  ]
}

const longest = { name: 64, system: 100_000 }

/** The agent that a call names or defines, or the reason why there is none. */
function chosen(
  { agent, name, system, model }: z.infer<typeof Create>,
  { members, allowsInline }: ThreadTeam,
): { agent: string | InlineAgent } | { refused: string } {
  const names = members.map((member) => member.name)
  if (agent !== undefined && (name !== undefined || system !== undefined))
    return { refused: 'name an agent of the list, or define one by name and system, not both' }
  if (agent !== undefined)
    return names.includes(agent)
      ? { agent }
      : { refused: `there is no agent ${JSON.stringify(agent)}; there are: ${names.join(', ')}` }
  if (!allowsInline) return { refused: `agent: is required; there are: ${names.join(', ')}` }
  if (!name || !system) return { refused: 'an agent that you define needs name and system' }
  if (name.length > longest.name || system.length > longest.system)
    return {
      refused: `name may have ${longest.name} characters and system ${longest.system}, at most`,
    }
  if (name === advisorName) return { refused: `name: ${name} is the name of the advisor` }
  if (names.includes(name)) return { refused: `name: ${name} is an agent of the list` }
  return { agent: { name, system, model } }
}
