/** What the palette finds by name: sessions in the service, everything else in the newest of each noun. */
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import {
  agentChoices,
  cardChoices,
  environmentChoices,
  fileChoices,
  memoryChoices,
  modelChoices,
  mostChoices,
  skillChoices,
  vaultChoices,
} from '../../lib/api/choices.ts'
import { api, dataOf } from '../../lib/api/client.ts'
import type { PaletteGroup, PaletteItem } from '../../components/palette.tsx'
import { matching } from '../../lib/matching.ts'
import { shortTitleOf } from '../../lib/session/facts.ts'
import { useSettled } from '../../lib/settled.ts'
import { words } from '../../lib/words.ts'

/** Things of one noun that are shown at the most. */
const shownOfEach = 5
const settleMs = 150

const { pages, palette: own } = words

const sessionsQuery = (text: string) =>
  queryOptions({
    queryKey: ['sessions', 'palette', text],
    queryFn: async ({ signal }) => {
      const query = { text: text.slice(0, 200), limit: shownOfEach, sort: 'active' as const }
      const byId = /^sesn_\w+$/.test(text)
        ? api
            .GET('/v1/ext/sessions/{id}', { params: { path: { id: text } }, signal })
            .then(({ data }) => (data ? [data] : []))
        : dataOf(api.GET('/v1/ext/sessions', { params: { query }, signal })).then(
            ({ data }) => data,
          )
      return byId
    },
    enabled: text !== '',
    retry: false,
    gcTime: 30_000,
    placeholderData: keepPreviousData,
  })

type Finding = {
  noun: string
  query: { isLoading: boolean; error: Error | null; data?: readonly unknown[] | undefined }
  items: readonly PaletteItem[]
  /** Only so many of the newest were looked through. */
  isCut: boolean
}

export type FoundThings = {
  groups: readonly PaletteGroup[]
  isSearching: boolean
  notes: readonly string[]
}

/** Asks nothing until something is typed. */
export function useThings(typed: string): FoundThings {
  const wanted = typed.trim()
  const settled = useSettled(wanted, settleMs)
  const findings = useFindings(wanted, settled)
  if (wanted === '') return { groups: [], isSearching: false, notes: [] }
  return {
    groups: findings.flatMap(({ noun, items }) =>
      items.length === 0 ? [] : [{ name: noun, items }],
    ),
    isSearching: settled !== wanted || findings.some(({ query }) => query.isLoading),
    notes: findings.flatMap(({ noun, query: { error }, isCut }) =>
      error ? [own.failed(noun, error.message)] : isCut ? [own.cut(noun, mostChoices)] : [],
    ),
  }
}

function useFindings(wanted: string, settled: string): Finding[] {
  const navigate = useNavigate()
  const enabled = wanted !== ''
  const sessions = useQuery(sessionsQuery(settled))
  const cards = useQuery({ ...cardChoices, enabled })
  const named = <Row extends { id: string }>(
    noun: string,
    query: Finding['query'] & { data?: readonly Row[] | undefined },
    about: (row: Row) => { name: string; beside?: string; run: () => void },
  ): Finding => ({
    noun,
    query,
    items: matching(query.data ?? [], wanted, (row) => [about(row).name, row.id])
      .slice(0, shownOfEach)
      .map((row) => {
        const { name, ...others } = about(row)
        return { id: `${noun} ${row.id}`, label: name, ...others }
      }),
    isCut: (query.data?.length ?? 0) >= mostChoices,
  })
  return [
    {
      noun: pages.sessions,
      query: sessions,
      items: (sessions.data ?? []).map((session) => ({
        id: session.id,
        label: shortTitleOf(session),
        beside: session.agent_name,
        run: () => void navigate({ to: '/sessions/$sessionId', params: { sessionId: session.id } }),
      })),
      isCut: false,
    },
    named(pages.agents, useQuery({ ...agentChoices, enabled }), ({ id, name, description }) => ({
      name,
      beside: description ?? '',
      run: () => void navigate({ to: '/agents/$agentId', params: { agentId: id } }),
    })),
    named(pages.environments, useQuery({ ...environmentChoices, enabled }), ({ id, name }) => ({
      name,
      run: () =>
        void navigate({ to: '/environments/$environmentId', params: { environmentId: id } }),
    })),
    named(pages.vaults, useQuery({ ...vaultChoices, enabled }), ({ id, display_name: name }) => ({
      name,
      run: () => void navigate({ to: '/vaults/$vaultId', params: { vaultId: id } }),
    })),
    named(own.memoryStores, useQuery({ ...memoryChoices, enabled }), ({ id, name }) => ({
      name,
      run: () => void navigate({ to: '/memory/$storeId', params: { storeId: id } }),
    })),
    named(
      pages.skills,
      useQuery({ ...skillChoices, enabled }),
      ({ id, display_title: title, name }) => ({
        name: title ?? name ?? id,
        beside: name ?? '',
        run: () => void navigate({ to: '/skills/$skillId', params: { skillId: id } }),
      }),
    ),
    named(pages.files, useQuery({ ...fileChoices, enabled }), ({ id, filename }) => ({
      name: filename,
      run: () => void navigate({ to: '/files/$fileId', params: { fileId: id } }),
    })),
    named(pages.models, useQuery({ ...modelChoices, enabled }), ({ id, display_name: beside }) => ({
      name: id,
      beside,
      run() {
        const card = cards.data?.find(({ model_id: model }) => model === id)
        if (card) void navigate({ to: '/models/$cardId', params: { cardId: card.id } })
        else void navigate({ to: '/models' })
      },
    })),
  ]
}
