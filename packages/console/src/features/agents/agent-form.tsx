/** The form of an agent: what most people set. All the rest stands in the YAML beside it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ChosenField } from '../../components/chosen-field.tsx'
import { Combobox } from '../../components/combobox.tsx'
import { Field } from '../../components/field.tsx'
import { FieldRow, Fields } from '../../components/form-page.tsx'
import { NameFields } from '../../components/name-fields.tsx'
import { Select } from '../../components/select.tsx'
import {
  cardChoices,
  environmentChoices,
  memoryChoices,
  modelChoices,
  skillChoices,
} from '../../lib/api/choices.ts'
import type { Problems } from '../../lib/api/problems.ts'
import type { Model } from '../../lib/api/types.ts'
import { formatCount, formatTokens } from '../../lib/format/numbers.ts'
import { factsOf } from '../../lib/model-facts.ts'
import { useSettled } from '../../lib/settled.ts'
import { estimateQuery } from './agents.ts'
import type { AgentDraft, DraftFieldProps } from './draft.ts'
import { modelIdOf } from './draft.ts'
import { MembersField } from './members-field.tsx'
import { ServersField } from './servers-field.tsx'
import { ToolsField } from './tools-field.tsx'
import { agentWords as own } from './words.ts'

type AgentFormProps = {
  draft: AgentDraft
  onDraft: (draft: AgentDraft) => void
  problems: Problems
  /** The agent itself is no member of its own list. */
  id?: string
}

export function AgentForm({ draft, onDraft, problems: { fields }, id }: AgentFormProps) {
  const set = (part: AgentDraft) => onDraft({ ...draft, ...part })
  const shared = { draft, onDraft }
  const size = usePromptSize(draft)
  return (
    <Fields>
      <NameFields
        of={own.fields}
        draft={draft}
        problems={fields}
        isNew={id === undefined}
        onChange={set}
      />
      <ModelField {...shared} problem={fields['model']} />
      <Field
        isLong
        label={own.fields.system}
        placeholder={own.fields.systemPlaceholder}
        value={draft.system ?? ''}
        problem={fields['system']}
        hint={size}
        onChange={(system) => set({ system })}
      />
      <ToolsField {...shared} problem={fields['tools']} />
      <ServersField {...shared} problem={fields['mcp_servers']} />
      <SkillsField {...shared} problem={fields['skills']} />
      <MembersField {...shared} id={id} problem={fields['multiagent']} />
      <PlacesFields {...shared} fields={fields} />
      <CompactionField {...shared} problem={fields['metadata']} />
    </Fields>
  )
}

/** The words of the prompt, and what the whole configuration takes of each request, as the service estimates it. */
function usePromptSize(draft: AgentDraft): string {
  const { model, system, tools } = useSettled(draft)
  const { data } = useQuery({
    ...estimateQuery({ model, system, tools }),
    placeholderData: keepPreviousData,
  })
  const count = formatCount((draft.system ?? '').split(/\s+/).filter(Boolean).length)
  if (!data) return own.promptWords(count)
  const { parts } = data
  return own.promptSize(count, formatTokens(parts.system), formatTokens(parts.tools))
}

const efforts = ['default', 'low', 'medium', 'high', 'xhigh', 'max'] as const
type ChosenEffort = (typeof efforts)[number]

function ModelField({ draft, onDraft, problem }: DraftFieldProps) {
  const { data: models } = useQuery(modelChoices)
  const { data: cards } = useQuery(cardChoices)
  const id = modelIdOf(draft.model)
  const known = models?.find((each) => each.id === id)
  const hasCard = cards?.some(({ model_id }) => model_id === id) === true
  const effort: ChosenEffort =
    typeof draft.model === 'object' ? (effortOf(draft.model.effort) ?? 'default') : 'default'
  const choose = (next: string) =>
    onDraft({
      ...draft,
      model:
        typeof draft.model === 'object' && effort !== 'default'
          ? { ...draft.model, id: next }
          : next,
    })
  const setEffort = (level: ChosenEffort) =>
    onDraft({
      ...draft,
      model: level === 'default' ? id : { ...asObject(draft.model), effort: { type: level } },
    })
  return (
    <FieldRow>
      <Combobox
        isFree
        label={own.fields.model}
        placeholder={own.fields.modelPlaceholder}
        none={own.noModels}
        choices={(models ?? []).map(({ id: value, display_name: beside }) => ({
          value,
          label: value,
          beside,
        }))}
        value={id}
        problem={problem}
        hint={hintOfModel(id, known, models)}
        onChange={choose}
      />
      <Select
        label={own.fields.effort}
        choices={efforts.map((value) => ({ value, label: own.effort[value] }))}
        value={effort}
        isOff={!hasCard && effort === 'default'}
        {...(!hasCard && { hint: own.effortNeedsCard })}
        onChange={setEffort}
      />
    </FieldRow>
  )
}

function hintOfModel(
  id: string,
  known: Model | undefined,
  models: readonly Model[] | undefined,
): string | undefined {
  if (!known) return models && id !== '' ? own.modelUnknown : undefined
  return known.id === 'offline' ? own.offlineHint : factsOf(known)
}

const asObject = (model: AgentDraft['model']) =>
  typeof model === 'object' ? model : { id: model ?? '' }

type GivenEffort = Extract<NonNullable<AgentDraft['model']>, object>['effort']

const effortOf = (effort: GivenEffort): ChosenEffort | undefined =>
  typeof effort === 'string' ? effort : effort?.type

function SkillsField({ draft, onDraft, problem }: DraftFieldProps) {
  const { data: skills } = useQuery(skillChoices)
  const chosen = (draft.skills ?? []).filter((each) => typeof each !== 'string')
  const set = (next: typeof chosen) => onDraft({ ...draft, skills: next })
  return (
    <ChosenField
      label={own.fields.skills}
      add={own.addSkill}
      none={own.noSkills}
      problem={problem}
      chosen={chosen.map(({ skill_id, version }) => ({
        id: skill_id,
        name: skills?.find(({ id }) => id === skill_id)?.display_title ?? skill_id,
        about: version ?? own.latest,
      }))}
      choices={(skills ?? []).map(({ id, display_title, name }) => ({
        value: id,
        label: display_title ?? name ?? id,
        beside: name ?? '',
      }))}
      onAdd={(id) => {
        const source = skills?.find((each) => each.id === id)?.source
        const type = source === 'anthropic' ? ('anthropic' as const) : ('custom' as const)
        set([...chosen, { type, skill_id: id }])
      }}
      onRemove={(id) => set(chosen.filter(({ skill_id }) => skill_id !== id))}
    />
  )
}

const none = 'none'

function PlacesFields({
  draft,
  onDraft,
  fields,
}: Omit<DraftFieldProps, 'problem'> & { fields: Problems['fields'] }) {
  const { data: environments } = useQuery(environmentChoices)
  const { data: stores } = useQuery(memoryChoices)
  return (
    <FieldRow>
      <Combobox
        label={own.fields.environment}
        hint={own.environmentHint}
        none={own.noEnvironment}
        problem={fields['environment_id']}
        choices={[
          { value: none, label: own.noEnvironment },
          ...(environments ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={draft.environment_id ?? none}
        onChange={(id) => onDraft({ ...draft, environment_id: id === none ? null : id })}
      />
      <Combobox
        label={own.fields.memory}
        hint={own.memoryHint}
        none={own.noMemory}
        problem={fields['memory_store_id']}
        choices={[
          { value: none, label: own.noMemory },
          ...(stores ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={draft.memory_store_id ?? none}
        onChange={(id) => onDraft({ ...draft, memory_store_id: id === none ? null : id })}
      />
    </FieldRow>
  )
}

const fraction = 'compaction_trigger_fraction'
const shares = [0.3, 0.5, 0.7, 0.8, 0.9]

function CompactionField({ draft, onDraft, problem }: DraftFieldProps) {
  const now = Number(draft.metadata?.[fraction])
  const chosen = Number.isFinite(now) && draft.metadata?.[fraction] !== undefined
  const all = chosen && !shares.includes(now) ? [now, ...shares] : shares
  const set = (value: string) => {
    const { [fraction]: _before, ...rest } = draft.metadata ?? {}
    onDraft({
      ...draft,
      metadata: value === 'default' ? rest : { ...rest, [fraction]: Number(value) },
    })
  }
  return (
    <Select
      label={own.fields.compaction}
      hint={problem ?? own.compactionHint}
      choices={[
        { value: 'default', label: own.compactionDefault },
        ...all.map((share) => ({ value: String(share), label: `${Math.round(share * 100)} %` })),
      ]}
      value={chosen ? String(now) : 'default'}
      onChange={set}
    />
  )
}
