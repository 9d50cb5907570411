/** The agents that an agent may start, and its advisor. The newer form of levels is changed in the YAML. */
import { useQuery } from '@tanstack/react-query'
import { ChosenField } from '../../components/chosen-field.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { FieldGroup } from '../../components/form-page.tsx'
import { Quiet, Stack } from '../../components/layout.tsx'
import { agentChoices, modelChoices } from '../../lib/api/choices.ts'
import type { AgentDraft, DraftFieldProps } from './draft.ts'
import { agentWords as own } from './words.ts'

type MembersFieldProps = DraftFieldProps & { id: string | undefined }

type Coordinator = Extract<NonNullable<AgentDraft['multiagent']>, { type: 'coordinator' }>
type CoordinatorMember = Coordinator['agents'][number]

const self = 'self'
const none = 'none'

const idOf = (member: CoordinatorMember): string | undefined => {
  if (typeof member === 'string') return member
  if (member.type === 'agent') return member.id
  return member.type === 'self' ? self : undefined
}

export function MembersField({ draft, onDraft, problem, id }: MembersFieldProps) {
  const { data: agents } = useQuery(agentChoices)
  const { data: models } = useQuery(modelChoices)
  const { multiagent } = draft
  if (multiagent && multiagent.type !== 'coordinator')
    return (
      <FieldGroup label={own.fields.members} problem={problem}>
        <Quiet>{own.levelsInYaml}</Quiet>
      </FieldGroup>
    )
  const members = multiagent?.agents ?? []
  const advisor = members.find((each) => typeof each === 'object' && each.type === 'advisor')
  const others = members.filter((each) => each !== advisor)
  const set = (next: readonly CoordinatorMember[]) =>
    onDraft({
      ...draft,
      multiagent: next.length === 0 ? null : { type: 'coordinator', agents: [...next] },
    })
  const withAdvisor = (next: readonly CoordinatorMember[]) => (advisor ? [...next, advisor] : next)
  const nameOf = (member: string): string =>
    member === self ? own.itself : (agents?.find((each) => each.id === member)?.name ?? member)
  return (
    <Stack>
      <ChosenField
        label={own.fields.members}
        hint={own.membersHint}
        add={own.addMember}
        none={own.noAgents}
        problem={problem}
        chosen={others.flatMap((member) => {
          const each = idOf(member)
          return each === undefined ? [] : [{ id: each, name: nameOf(each) }]
        })}
        choices={[
          { value: self, label: own.itself },
          ...(agents ?? [])
            .filter((each) => each.id !== id)
            .map(({ id: value, name, version }) => ({
              value,
              label: name,
              beside: own.versionIs(version),
            })),
        ]}
        onAdd={(each) => set(withAdvisor([...others, each === self ? { type: 'self' } : each]))}
        onRemove={(each) => set(withAdvisor(others.filter((member) => idOf(member) !== each)))}
      />
      <Combobox
        label={own.fields.advisor}
        hint={own.advisorHint}
        none={own.noModels}
        choices={[
          { value: none, label: own.noAdvisor },
          ...(models ?? []).map(({ id: value, display_name: beside }) => ({
            value,
            label: value,
            beside,
          })),
        ]}
        value={typeof advisor === 'object' && 'model' in advisor ? advisor.model : none}
        onChange={(model) => set(model === none ? others : [...others, { type: 'advisor', model }])}
      />
    </Stack>
  )
}
