/** Skills of the workspace, on the wire of `/openai/v1`. */
import { z } from 'zod'
import { UnixSeconds, unsupportedField } from './lists.ts'

const parts = z
  .array(z.string().meta({ format: 'binary' }))
  .describe('The files with their paths below one folder, or one zip archive with that folder.')
const example = {
  'files[]': ['---\nname: greeting\ndescription: Greets people\n---\nSay hello.\n'],
}

export const OpenAISkillForm = z
  .strictObject({ 'files[]': parts })
  .meta({ id: 'OpenAISkillCreateParams', examples: [example] })

/** The fields of a version's form, except for the files. */
export const OpenAISkillVersionFields = z.strictObject({
  default: z
    .literal('true', unsupportedField('the newest version is the default'))
    .optional()
    .describe('The newest version is the default.'),
})
export const OpenAISkillVersionForm = OpenAISkillVersionFields.extend({ 'files[]': parts }).meta({
  id: 'OpenAISkillVersionCreateParams',
  examples: [example],
})

export const OpenAISkillUpdate = z
  .strictObject({ default_version: z.string().describe('The newest version, or `latest`.') })
  .meta({ id: 'OpenAISkillUpdateParams', examples: [{ default_version: 'latest' }] })

const told = {
  id: z.string(),
  name: z.string(),
  description: z.string(),
  created_at: UnixSeconds,
}

export const OpenAISkillShown = z
  .object({
    ...told,
    object: z.literal('skill'),
    default_version: z.string().describe('The newest version.'),
    latest_version: z.string().describe('The newest version.'),
  })
  .meta({ id: 'OpenAISkill', description: 'A skill of the workspace.' })
export type OpenAISkill = z.infer<typeof OpenAISkillShown>

export const OpenAISkillVersionShown = z
  .object({
    ...told,
    object: z.literal('skill.version'),
    skill_id: z.string(),
    version: z.string().describe('Digits of its time in microseconds.'),
  })
  .meta({ id: 'OpenAISkillVersion', description: 'A version of a skill; it does not change.' })
export type OpenAISkillVersion = z.infer<typeof OpenAISkillVersionShown>
