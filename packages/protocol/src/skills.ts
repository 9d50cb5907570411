import { z } from 'zod'
import { CreatedAt, Line, ListQuery, UpdatedAt, extension } from './primitives.ts'

export const skillSources = ['anthropic', 'custom'] as const
export type SkillSource = (typeof skillSources)[number]

/**
 * Both generations of field names in one object; only `source` depends on the dialect. `latest_version` is null when
 * all versions are deleted. [dialects/skill-source] [skills/field/latest-version]
 */
export const SkillShown = z
  .object({
    id: z.string(),
    type: z.literal('skill'),
    display_title: z.string().describe('What people call the skill.'),
    display_name: z.string().describe('Another name of `display_title`.'),
    name: z.string(),
    description: z.string(),
    latest_version: z
      .string()
      .nullable()
      .describe('Digits of its time in microseconds; null once all versions are deleted.'),
    latest_version_id: z.string().nullable().describe('The id of that version, or null.'),
    source: z
      .union([z.enum(skillSources), z.object({ type: z.enum(skillSources) })])
      .describe('`anthropic`: built in. `custom`: uploaded.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({
    id: 'Skill',
    description: 'Instructions and programs that an agent loads when it needs them.',
  })
export type Skill = z.infer<typeof SkillShown>

export const SkillVersionShown = z
  .object({
    id: z.string(),
    type: z.literal('skill_version'),
    skill_id: z.string(),
    version: z.string().describe('Digits of its time in microseconds.'),
    name: z.string(),
    description: z.string(),
    directory: z.string().describe('The folder that was uploaded.'),
    files: z
      .array(z.object({ filename: z.string() }))
      .meta(extension('The files below the folder.')),
    created_at: CreatedAt,
  })
  .meta({ id: 'SkillVersion', description: 'One version of a skill; it does not change.' })
export type SkillVersion = z.infer<typeof SkillVersionShown>

/** An id that the caller chooses. The pattern makes the id safe in paths. */
const SkillId = z
  .string()
  .regex(/^\w[\w.-]{0,127}$/, 'must be 1 to 128 letters, digits, dots, underscores and hyphens')
const title = Line.max(255)

/** The fields of the form, except for the files. `display_title` and `display_name` are the same field. */
export const SkillFields = z.strictObject({
  id: SkillId.nullish().meta(extension('An id of your own.')),
  display_title: title.nullish().describe('What people call the skill.'),
  display_name: title.nullish().meta(extension('Another name of `display_title`.')),
  description: Line.nullish().meta(extension('In place of the one in SKILL.md.')),
})
export type SkillFields = z.infer<typeof SkillFields>

const files = z
  .array(
    z.strictObject({
      filename: z.string().describe('The path of the file below the folder of the skill.'),
      content: z.string().describe('The text of the file.'),
    }),
  )
  .describe('The files of the skill, SKILL.md among them.')

const skillText = '---\nname: greeting\ndescription: Greets people\n---\nSay hello.\n'
const farewell = {
  filename: 'SKILL.md',
  content: '---\nname: farewell\ndescription: Says goodbye\n---\nSay goodbye.\n',
}
/** A skill whose files are text, sent as JSON. */
export const SkillBody = SkillFields.extend({ files }).meta({
  id: 'SkillTextsCreateParams',
  examples: [{ display_title: 'Farewell', files: [farewell] }],
})
export type SkillBody = z.infer<typeof SkillBody>

export const SkillVersionBody = z.strictObject({ files }).meta({
  id: 'SkillVersionTextsCreateParams',
  examples: [{ files: [{ filename: 'SKILL.md', content: skillText }] }],
})

/** A file of a form, for the published description. */
const binary = z.string().meta({ format: 'binary' })
const parts = z
  .array(binary)
  .describe('The files, with their paths below one folder; SKILL.md among them.')
const example = { 'files[]': [skillText] }
export const SkillForm = SkillFields.extend({ 'files[]': parts }).meta({
  id: 'SkillCreateParams',
  examples: [{ display_title: 'Greeting', ...example }],
})
export const SkillArchiveForm = SkillFields.extend({
  file: binary.describe('A zip archive with one folder.'),
}).meta({ id: 'SkillUploadParams', examples: [{ file: 'the bytes of the archive' }] })
export const SkillVersionForm = z
  .strictObject({ 'files[]': parts })
  .meta({ id: 'SkillVersionCreateParams', examples: [example] })

export const SkillListQuery = ListQuery.extend({
  source: z.enum(skillSources).optional().describe('Only skills from this source.'),
})
