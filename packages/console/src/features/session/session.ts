/** One session, and what a person does to it. */
import {
  infiniteQueryOptions,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { api, dataOf } from '../../lib/api/client.ts'
import type { components, paths } from '../../lib/api/openapi.gen.ts'
import type { CredentialUse, MemoryVersion, Session, SessionEvent } from '../../lib/api/types.ts'
import { pagesQuery } from '../../lib/list-state.ts'

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ['sessions', 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/sessions/{id}', { params: { path: { id } }, signal })),
  })

/** The session in short: its turns, how full its context is, why its last turn failed. */
export const summaryQuery = (id: string) =>
  queryOptions({
    queryKey: ['sessions', 'short', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/ext/sessions/{id}', { params: { path: { id } }, signal })),
  })

/** An event with all of its texts: pages of events have the beginnings of long ones. */
export const wholeEventQuery = (session: string, event: string) =>
  queryOptions({
    queryKey: ['sessions', 'event', session, event],
    queryFn: async ({ signal }) =>
      (await dataOf(
        api.GET('/v1/sessions/{id}/events/{event_id}', {
          params: { path: { id: session, event_id: event } },
          signal,
        }),
      )) as SessionEvent,
    // An event that is kept never changes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })

/** What a page of a session shows beside the session itself. It is asked for again when the session's status changes. */
export const besideKey = (id: string) => ['sessions', 'beside', id] as const

/** The newest forks of a session. */
export const forksQuery = (forked_from: string) =>
  queryOptions({
    queryKey: [...besideKey(forked_from), 'forks'],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET('/v1/ext/sessions', {
          params: { query: { forked_from, limit: 20, include_archived: 'true' } },
          signal,
        }),
      ),
  })

/** Versions of memories that the session has made in a store, the newest first. */
export const ownVersionsQuery = (session_id: string, store: string) =>
  pagesQuery<MemoryVersion>([...besideKey(session_id), 'memory', store], (page, signal) =>
    api.GET('/v1/memory_stores/{id}/memory_versions', {
      params: { path: { id: store }, query: { ...page, session_id } },
      signal,
    }),
  )

/** Calls of the session that carried a credential, the newest first. */
export const credentialUsesQuery = (session_id: string) =>
  pagesQuery<CredentialUse>([...besideKey(session_id), 'credentials'], (page, signal) =>
    api.GET('/v1/ext/audit/credential_uses', {
      params: { query: { ...page, limit: usesAtOnce, session_id } },
      signal,
    }),
  )

const usesAtOnce = 100

/** The credentials of a vault that a session uses. */
export const vaultCredentialsQuery = (id: string) =>
  queryOptions({
    queryKey: ['vaults', 'credentials of', id],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { limit: usesAtOnce } }
      return (await dataOf(api.GET('/v1/vaults/{id}/credentials', { params, signal }))).data
    },
  })

export const modelOf = ({ model }: Pick<Session['agent'], 'model'>): string =>
  typeof model === 'string' ? model : model.id

/** The newest message that a person has written to the primary thread; null where nobody has. */
export const lastMessageQuery = (id: string) =>
  queryOptions({
    queryKey: [...besideKey(id), 'last message'],
    queryFn: async ({ signal }) => {
      const [message] = await eventsPage(
        id,
        { types: 'user.message', order: 'desc', limit: 1 },
        signal,
      )
      return message?.type === 'user.message' ? message : null
    },
  })

/** The newest decisions of a session, with the calls that they are about. */
export const decisionsQuery = (id: string) =>
  queryOptions({
    queryKey: [...besideKey(id), 'decisions'],
    queryFn: ({ signal }) =>
      eventsPage(
        id,
        {
          types: ['user.tool_confirmation', 'agent.tool_use', 'agent.mcp_tool_use'],
          order: 'desc',
          limit: logPage,
          view: 'light',
          threads: 'all',
        },
        signal,
      ),
  })

type EventsQuery = paths['/v1/sessions/{id}/events']['get']['parameters']['query']

async function eventsPage(
  id: string,
  query: EventsQuery,
  signal: AbortSignal,
): Promise<SessionEvent[]> {
  const answer = await dataOf(
    api.GET('/v1/sessions/{id}/events', { params: { path: { id }, query }, signal }),
  )
  return typeof answer === 'string' ? [] : (answer.data as SessionEvent[])
}

export type SearchOf = { q: string; errors: boolean; tool: string }

/** Events that say what is looked for, in all threads, the newest first. */
export const foundQuery = (session: string, { q, errors, tool }: SearchOf) =>
  infiniteQueryOptions({
    queryKey: ['sessions', 'found', session, q, errors, tool],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/v1/ext/sessions/{id}/find', {
          params: {
            path: { id: session },
            query: {
              ...(q !== '' && { q }),
              ...(errors && { errors: 'true' }),
              ...(tool !== '' && { tool }),
              ...(pageParam !== '' && { page: pageParam }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.next_page ?? undefined,
  })

export const logPage = 1_000

/** All events of the primary thread, whole. */
export async function readWholeLog(id: string): Promise<SessionEvent[]> {
  const events: SessionEvent[] = []
  let page: string | undefined
  do {
    const query = { limit: logPage, ...(page !== undefined && { page }) }
    const answer = await dataOf(
      api.GET('/v1/sessions/{id}/events', { params: { path: { id }, query } }),
    )
    if (typeof answer === 'string') return events
    events.push(...(answer.data as SessionEvent[]))
    page = answer.next_page ?? undefined
  } while (page !== undefined)
  return events
}

type PostedEvent = components['schemas']['EventSendParams']['events'][number]

export function usePost(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (events: PostedEvent[]) =>
      api.POST('/v1/sessions/{id}/events', { params: { path: { id } }, body: { events } }),
    onSettled: () => void client.invalidateQueries({ queryKey: ['sessions'] }),
  })
}

/** Sends a message; its draft goes when the service has it, also where nobody looks any more. */
export function useSend(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ content }: { content: MessageContent; draft: string }) =>
      api.POST('/v1/sessions/{id}/events', {
        params: { path: { id } },
        body: { events: [{ type: 'user.message', content }] },
      }),
    onSuccess: (_, { draft }) => {
      if (readDraft(id) === draft) keepDraft(id, '')
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ['sessions'] }),
  })
}

type MessageContent = Extract<PostedEvent, { type: 'user.message' }>['content']

export const interruption = (): PostedEvent => ({ type: 'user.interrupt' })

export const decisionOf = (
  call: string,
  decision: { isAllowed: boolean; reason?: string | undefined },
): PostedEvent => ({
  type: 'user.tool_confirmation',
  tool_use_id: call,
  result: decision.isAllowed ? 'allow' : 'deny',
  ...(decision.reason !== undefined && { deny_message: decision.reason }),
})

export const answerOf = (call: string, text: string): PostedEvent => ({
  type: 'user.custom_tool_result',
  custom_tool_use_id: call,
  content: [{ type: 'text', text }],
})

/** Messages that no turn has read yet, and what a person does to them. */
export const readWaiting = (id: string, signal: AbortSignal) =>
  dataOf(api.GET('/v1/ext/sessions/{id}/waiting_messages', { params: { path: { id } }, signal }))

type WaitingChange = { message: string; content: MessageContent | undefined }

/** Without a content the message is removed. Resolves with what became of it. */
export function useWaitingChange(id: string) {
  return useMutation({
    mutationFn: async ({ message, content }: WaitingChange) => {
      const params = { path: { id, message } }
      const path = '/v1/ext/sessions/{id}/waiting_messages/{message}' as const
      const { state } = await dataOf(
        content === undefined
          ? api.DELETE(path, { params })
          : api.POST(path, { params, body: { content } }),
      )
      return state
    },
  })
}

const allowancesKey = (id: string) => ['sessions', 'allowances', id] as const

/** Tools that the session uses without asking. */
export const allowancesQuery = (id: string) =>
  queryOptions({
    queryKey: allowancesKey(id),
    queryFn: ({ signal }) =>
      dataOf(api.GET('/v1/ext/sessions/{id}/allowances', { params: { path: { id } }, signal })),
  })

export function useAllowance(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ tool, isAllowed }: { tool: string; isAllowed: boolean }) => {
      if (isAllowed)
        await api.POST('/v1/ext/sessions/{id}/allowances', {
          params: { path: { id } },
          body: { tool },
        })
      else
        await api.DELETE('/v1/ext/sessions/{id}/allowances/{tool}', {
          params: { path: { id, tool } },
        })
    },
    onSettled: () => client.invalidateQueries({ queryKey: allowancesKey(id) }),
  })
}

const draftName = (id: string) => `steward.draft.${id}`

/** What somebody has begun to write to the session, on this device. */
export function readDraft(id: string): string {
  try {
    return localStorage.getItem(draftName(id)) ?? ''
  } catch {
    return ''
  }
}

export function keepDraft(id: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(draftName(id))
    else localStorage.setItem(draftName(id), text)
  } catch {
    // It holds until the page is left.
  }
}
