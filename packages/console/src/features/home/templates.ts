/** Agents that do something at once: each with what it is asked first, for a model, and for the offline one by its commands. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { agentChoices, environmentChoices, modelChoices } from '../../lib/api/choices.ts'
import { api, dataOf } from '../../lib/api/client.ts'
import type { AgentCreateBody } from '../../lib/api/types.ts'

export type AgentTemplate = {
  id: string
  title: string
  text: string
  /** What it works with, in a few words. */
  works: string
  agent: Omit<AgentCreateBody, 'model'>
  message: string
  offlineMessage: string
}

const offline = 'offline'
const environmentName = 'default'

const toolset = (policy: 'always_allow' | 'always_ask') => ({
  type: 'agent_toolset_20260401' as const,
  default_config: { enabled: true, permission_policy: { type: policy } },
})

export const agentTemplates: readonly AgentTemplate[] = [
  {
    id: 'coder',
    title: 'Write a program and run it',
    text: 'Writes a small program into its sandbox, runs it, and says what came out.',
    works: 'sandbox, all tools allowed',
    agent: {
      name: 'coder',
      description: 'Writes programs and runs them',
      system:
        'You write small programs. Write them into files, run them, and mend what fails. End with what the program does and what it printed, in a few sentences.',
      tools: [toolset('always_allow')],
    },
    message:
      'Write a program that prints the first twenty prime numbers, run it, and say in two sentences how it works.',
    offlineMessage: `write primes.mjs: <<END
const primes = []
for (let n = 2; primes.length < 20; n++) if (primes.every((p) => n % p)) primes.push(n)
console.log(primes.join(' '))

END
run: node primes.mjs
say: The program divides each number by the primes before it, and keeps those that no prime divides.`,
  },
  {
    id: 'tidier',
    title: 'Ask before it acts',
    text: 'Makes and sorts a few files, and asks you before each command.',
    works: 'sandbox, every tool asks first',
    agent: {
      name: 'tidier',
      description: 'Sorts files, and asks before each command',
      system:
        'You put files in order. Say what you are about to do, then do it one command at a time: a person approves each.',
      tools: [toolset('always_ask')],
    },
    message:
      'Make the folders letters and numbers. Make the files a.txt, b.txt, 1.txt and 2.txt, move each into the folder where it belongs, and list the folders.',
    offlineMessage: `run: touch a.txt b.txt 1.txt 2.txt && mkdir -p letters numbers
run: mv a.txt b.txt letters/ && mv 1.txt 2.txt numbers/
run: ls letters numbers
say: Every file lies where it belongs.`,
  },
  {
    id: 'planner',
    title: 'Ask you a question',
    text: 'Asks what only you know, waits for your answer, and writes a plan into a file.',
    works: 'sandbox, a tool that asks you',
    agent: {
      name: 'planner',
      description: 'Asks, then writes a plan',
      system:
        'You plan days. Before you plan, ask the person with ask_user for what you need to know, one question at a time, three at most. Write the plan to plan.md.',
      tools: [
        toolset('always_allow'),
        {
          type: 'custom',
          name: 'ask_user',
          description: 'Asks the person a question, and gives the answer.',
          input_schema: {
            type: 'object',
            properties: { question: { type: 'string' } },
            required: ['question'],
          },
        },
      ],
    },
    message: 'Plan a day off for me, and write the plan to plan.md.',
    offlineMessage: `call ask_user {"question":"Where would you like to spend your day off?"}
write plan.md: In the morning there, at noon a meal, in the evening home.
say: The plan lies in plan.md.`,
  },
]

/** Makes the agent, an environment where there is none, and a session that begins at once. Resolves with its id. */
export function useAgentTemplate() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ title, agent, message, offlineMessage }: AgentTemplate) => {
      const models = await client.fetchQuery(modelChoices)
      const model = models.find(({ id }) => id !== offline)?.id ?? offline
      const environments = await client.fetchQuery(environmentChoices)
      const environment =
        environments[0]?.id ??
        (await dataOf(api.POST('/v1/environments', { body: { name: environmentName } }))).id
      const made = await dataOf(api.POST('/v1/agents', { body: { ...agent, model } }))
      const text = model === offline ? offlineMessage : message
      const session = await dataOf(
        api.POST('/v1/sessions', {
          body: {
            agent: made.id,
            environment_id: environment,
            // Commands of the offline model make no title.
            ...(model === offline && { title }),
            initial_events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
          },
        }),
      )
      return session.id
    },
    onSettled: () => {
      void client.invalidateQueries(agentChoices)
      void client.invalidateQueries(environmentChoices)
      void client.invalidateQueries({ queryKey: ['agents'] })
      void client.invalidateQueries({ queryKey: ['home'] })
    },
  })
}
