/** Moves an issue that is delegated to the app out of the states in which nobody works. */
import { z } from 'zod'
import type { ExternalThread, Notes, ProviderCall, Telling } from '../integration.ts'
import { graphqlCall } from './query.ts'
import { parsePayload } from '../deliveries/payload.ts'

/** Types of states in which nobody works, as Linear names them. */
const waiting = ['triage', 'backlog', 'unstarted']

const asked = `query($id: String!) { issue(id: $id) {
  delegate { id } state { type }
  team { states(filter: { type: { eq: "started" } }) { nodes { id position } } }
} }`

const moving =
  'mutation($id: String!, $input: IssueUpdateInput!) { issueUpdate(id: $id, input: $input) { success } }'

const issueForm = z.object({
  data: z.object({
    issue: z.object({
      delegate: z.object({ id: z.string() }).nullish(),
      state: z.object({ type: z.string() }),
      team: z.object({
        states: z.object({ nodes: z.array(z.object({ id: z.string(), position: z.number() })) }),
      }),
    }),
  }),
})

/**
 * The first started state in Linear's order. Returns undefined when the issue is not delegated to this app, or when
 * somebody already works on it.
 */
function startedStateOf(
  { delegate, state, team }: z.infer<typeof issueForm>['data']['issue'],
  app: unknown,
): string | undefined {
  if (delegate?.id !== app || !waiting.includes(state.type)) return undefined
  return team.states.nodes.toSorted((a, b) => a.position - b.position)[0]?.id
}

export const lookUp = {
  callFor({ kind }: Telling, { target }: ExternalThread): ProviderCall | null {
    const { issue: id, app_user, started_state } = target
    const isKnown = kind !== 'begun' || started_state !== undefined
    if (isKnown || typeof id !== 'string' || typeof app_user !== 'string') return null
    return { ...graphqlCall(asked, { id }), isOptional: true }
  },

  targetOf(_telling: Telling, { target }: ExternalThread, body: string): Notes | undefined {
    const { data } = issueForm.safeParse(parsePayload(Buffer.from(body)))
    return (
      data && {
        ...target,
        started_state: startedStateOf(data.data.issue, target['app_user']) ?? null,
      }
    )
  },
}

export function buildMoveCall({ target }: ExternalThread): ProviderCall | null {
  const { issue: id, started_state: stateId } = target
  if (typeof id !== 'string' || typeof stateId !== 'string') return null
  return { ...graphqlCall(moving, { id, input: { stateId } }), isOptional: true }
}

const movingAndLinking = `mutation($id: String!, $input: IssueUpdateInput!, $session: String!, $links: AgentSessionUpdateInput!) {
  issueUpdate(id: $id, input: $input) { success }
  agentSessionUpdate(id: $session, input: $links) { success }
}`

/** Moves the issue, and adds a link to the session of Linear. */
export const moveAndLink = (
  { target }: ExternalThread,
  { id: session, own }: { id: string; own: { label: string; url: string } },
): ProviderCall =>
  graphqlCall(movingAndLinking, {
    id: target['issue'],
    input: { stateId: target['started_state'] },
    session,
    links: { addedExternalUrls: [own] },
  })
