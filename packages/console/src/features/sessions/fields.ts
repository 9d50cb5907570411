/** The filters of the list of sessions: with the things that some of them name, once somebody needs these. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import {
  agentChoices,
  deploymentChoices,
  environmentChoices,
  keyChoices,
  memberChoices,
  mostChoices,
} from '../../lib/api/choices.ts'
import type { ChosenFilters, FilterField, NamedThing } from '../../lib/filters.ts'
import { keysOf } from '../../lib/keys-of.ts'
import type { ThingField } from './filters.ts'
import { plainFields, stateFields, thingFields } from './filters.ts'

type Things = Record<ThingField, readonly NamedThing[] | undefined>

/** `isTyping`: names are wanted of everything; else of what the filters name. */
export function useSessionFields(
  filters: ChosenFilters,
  isTyping: boolean,
): { fields: readonly FilterField[]; error: Error | null } {
  const wanted = (...names: ThingField[]) => isTyping || names.some((name) => filters[name])
  const agents = useQuery({ ...agentChoices, enabled: wanted('agent') })
  const environments = useQuery({ ...environmentChoices, enabled: wanted('environment') })
  const deployments = useQuery({ ...deploymentChoices, enabled: wanted('deployment') })
  const members = useQuery({ ...memberChoices, enabled: wanted('creator') })
  const keys = useQuery({ ...keyChoices, enabled: wanted('creator') })
  const things = useMemo(
    (): Things => ({
      agent: agents.data,
      environment: environments.data,
      deployment: deployments.data,
      creator: members.data &&
        keys.data && [
          ...members.data.map(({ id, name }) => ({ id, name })),
          ...keys.data.map(({ id, name }) => ({ id, name })),
        ],
    }),
    [agents.data, environments.data, deployments.data, members.data, keys.data],
  )
  const fields = useMemo(() => {
    const named = keysOf(thingFields).map((name): FilterField => ({
      name,
      about: thingFields[name].about,
      things: {
        isId: (value) => thingFields[name].id.test(value),
        all: things[name],
        isCut: (things[name]?.length ?? 0) >= mostChoices,
      },
    }))
    return [...stateFields, ...named, ...plainFields]
  }, [things])
  const failed = [agents, environments, deployments, members, keys].find(({ error }) => error)
  return { fields, error: failed?.error ?? null }
}
