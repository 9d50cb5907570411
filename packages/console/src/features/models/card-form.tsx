/** The form of a model card: how a model is reached. */
import { useQuery } from '@tanstack/react-query'
import { Combobox } from '../../components/combobox.tsx'
import { Field } from '../../components/field.tsx'
import { FieldRow, Fields } from '../../components/form-page.tsx'
import { Fold } from '../../components/fold.tsx'
import { YamlField } from '../../components/yaml-editor.tsx'
import type { Problems } from '../../lib/api/problems.ts'
import type { ModelCard } from '../../lib/api/types.ts'
import type { CardDraft } from './draft.ts'
import { HeadersField } from './headers-field.tsx'
import { catalogQuery } from './models.ts'
import { modelWords as own } from './words.ts'

type CardFormProps = {
  draft: CardDraft
  onDraft: (draft: CardDraft) => void
  problems: Problems
  /** The card that the form changes. */
  card?: ModelCard
}

/** Those that people have keys of; the service takes others too, and names them where it knows none. */
const providers = [
  'anthropic',
  'openai',
  'google',
  'openrouter',
  'mistral',
  'deepseek',
  'xai',
  'groq',
  'together',
  'fireworks',
  'bedrock',
  'vertex',
  'foundry',
  'oai-compatible',
  'ant-compatible',
].map((value) => ({ value, label: value }))

export function CardForm({ draft, onDraft, problems: { fields }, card }: CardFormProps) {
  const set = (part: Partial<CardDraft>) => onDraft({ ...draft, ...part })
  const isOwnServer = draft.provider.endsWith('-compatible')
  const url = (
    <Field
      label={own.fields.url}
      placeholder={isOwnServer ? own.ownUrlPlaceholder : own.urlPlaceholder}
      value={draft.url}
      problem={fields['base_url']}
      onChange={(next) => set({ url: next })}
    />
  )
  return (
    <Fields>
      <FieldRow>
        {card ? (
          <Field
            isOff
            label={own.fields.provider}
            hint={own.fixed}
            value={draft.provider}
            onChange={() => {}}
          />
        ) : (
          <Combobox
            isFree
            label={own.fields.provider}
            placeholder={own.providerPlaceholder}
            hint={own.providerHint}
            none={own.noProviders}
            choices={providers}
            value={draft.provider}
            problem={fields['provider']}
            onChange={(provider) => set({ provider })}
          />
        )}
        <Field
          type="password"
          label={own.fields.key}
          hint={
            placesOf(draft.provider).length > 0 && !card ? own.credentialsHint : hintOfKey(card)
          }
          value={draft.key}
          problem={fields['api_key'] ?? fields['credentials']}
          onChange={(key) => set({ key })}
        />
      </FieldRow>
      <CloudFields draft={draft} set={set} problem={fields['cloud']} />
      <FieldRow>
        <ModelField
          provider={draft.provider}
          value={draft.model}
          problem={fields['model']}
          // Agents may call the model as its provider does, until somebody writes otherwise.
          onChange={(model) =>
            set({ model, ...(!card && draft.handle === draft.model && { handle: model }) })
          }
        />
        <Field
          isOff={card !== undefined}
          label={own.fields.handle}
          placeholder={own.handlePlaceholder}
          hint={card ? own.fixed : own.handleHint}
          value={draft.handle}
          problem={fields['model_id']}
          onChange={(handle) => set({ handle })}
        />
      </FieldRow>
      {isOwnServer && url}
      <Fold
        label={own.fields.further}
        isOpen={hasFurther(draft, card) || hasFurtherProblem(fields)}
      >
        {!isOwnServer && url}
        <Field
          label={own.fields.name}
          value={draft.name}
          problem={fields['display_name']}
          onChange={(name) => set({ name })}
        />
        <HeadersField
          kept={card?.custom_headers ?? []}
          headers={draft.headers}
          problem={fields['custom_headers']}
          onHeaders={(headers) => set({ headers })}
        />
        <YamlField
          label={own.fields.config}
          hint={own.configHint}
          problem={fields['native_config']}
          body={draft.config}
          onBody={(config) => set({ config })}
        />
      </Fold>
    </Fields>
  )
}

/** What says where in a cloud a model is. */
function placesOf(provider: string): ('region' | 'project' | 'resource')[] {
  if (provider === 'bedrock') return ['region']
  if (provider === 'vertex') return ['region', 'project']
  return provider === 'foundry' ? ['resource'] : []
}

type CloudFieldsProps = {
  draft: CardDraft
  set: (part: Partial<CardDraft>) => void
  problem: string | undefined
}

function CloudFields({ draft, set, problem }: CloudFieldsProps) {
  const places = placesOf(draft.provider.trim())
  if (places.length === 0) return null
  return (
    <FieldRow>
      {places.map((place) => (
        <Field
          key={place}
          label={own.fields[place]}
          placeholder={own.cloudPlaceholders[place]}
          value={draft[place]}
          problem={place === places[0] ? problem : undefined}
          onChange={(next) => set({ [place]: next })}
        />
      ))}
    </FieldRow>
  )
}

/** Something stands in a field that most cards leave empty. */
const hasFurther = (
  { provider, url, name, headers = {}, config }: CardDraft,
  card: ModelCard | undefined,
): boolean =>
  (url !== '' && !provider.endsWith('-compatible')) ||
  name !== '' ||
  (card?.custom_headers ?? []).length > 0 ||
  Object.keys(headers).length + Object.keys(config).length > 0

const furtherFields = ['base_url', 'display_name', 'custom_headers', 'native_config']
const hasFurtherProblem = (fields: Problems['fields']): boolean =>
  furtherFields.some((field) => fields[field] !== undefined)

/** The preview of a card without a key has no letters. */
function hintOfKey(card: ModelCard | undefined): string {
  if (!card) return own.keyHint
  const { api_key_preview: preview } = card
  return preview.length > 1 ? own.keyKept(preview) : own.noKeyKept
}

type ModelFieldProps = {
  provider: string
  value: string
  problem: string | undefined
  onChange: (model: string) => void
}

/** The models of the catalog to choose from, or any other. */
function ModelField({ provider, value, problem, onChange }: ModelFieldProps) {
  const { data } = useQuery(catalogQuery(provider.trim()))
  return (
    <Combobox
      isFree
      label={own.fields.model}
      placeholder={own.modelPlaceholder}
      none={own.noModels}
      choices={(data ?? []).map(({ id }) => ({ value: id, label: id }))}
      value={value}
      problem={problem}
      onChange={onChange}
    />
  )
}
