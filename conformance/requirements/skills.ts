// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const skills = {
  'skills/field/type': { section: '12.1 Fields', says: '`type` – `skill`', deferred: 'C' },
  'skills/field/id': { section: '12.1 Fields', says: '`id` – string – assigned, or given at upload', deferred: 'C' },
  'skills/field/display-title': { section: '12.1 Fields', says: '`display_title` – string – for people; also shown as `display_name`', deferred: 'C' },
  'skills/field/name': { section: '12.1 Fields', says: '`name` – string – the `name` in the head of SKILL.md, and the folder\'s name in the sandbox', deferred: 'C' },
  'skills/field/description': { section: '12.1 Fields', says: '`description` – string – the `description` in the head of SKILL.md', deferred: 'C' },
  'skills/field/source': { section: '12.1 Fields', says: '`source` – string or object – `anthropic` for the built-in ones, exactly, else `custom`', deferred: 'C' },
  'skills/field/latest-version': { section: '12.1 Fields', says: '`latest_version` – string – digits of an epoch time', deferred: 'C' },
  'skills/field/times': { section: '12.1 Fields', says: '`created_at`, `updated_at` – time – assigned', deferred: 'C' },
  'skills/version/field/version': { section: '12.1 Fields', says: 'version: `version` – string – digits of an epoch time', deferred: 'C' },
  'skills/version/field/files': { section: '12.1 Fields', says: 'version: `files` – array – entries `{filename}`', deferred: 'C' },
  'skills/list': { section: '12.2 Endpoints', says: 'GET `/v1/skills` – lists the tenant\'s and the built-in ones', deferred: 'C' },
  'skills/create/multipart': { section: '12.2 Endpoints', says: 'POST `/v1/skills`, multipart – `id`, `display_title`, `description` and one or more files', deferred: 'C' },
  'skills/create/json': { section: '12.2 Endpoints', says: 'POST `/v1/skills`, JSON – `{files: [{filename, content}]}` with a SKILL.md whose head has `name` and `description`', deferred: 'C' },
  'skills/create/zip': { section: '12.2 Endpoints', says: 'POST `/v1/skills/upload` – multipart with a zip archive in `file`, which suits big skills and binary files', deferred: 'C' },
  'skills/get': { section: '12.2 Endpoints', says: 'GET `/v1/skills/:id` – answers one', deferred: 'C' },
  'skills/versions/list': { section: '12.2 Endpoints', says: 'GET `/v1/skills/:id/versions` – lists versions', deferred: 'C' },
  'skills/versions/create': { section: '12.2 Endpoints', says: 'POST `/v1/skills/:id/versions` – adds a version', deferred: 'C' },
  'skills/versions/get': { section: '12.2 Endpoints', says: 'GET `/v1/skills/:id/versions/:version` – one version, by number, by id or as `latest`', deferred: 'C' },
  'skills/versions/content': { section: '12.2 Endpoints', says: 'GET `/v1/skills/:id/versions/:version/content` – its files as a zip with one folder', deferred: 'C' },
  'skills/versions/delete': { section: '12.2 Endpoints', says: 'DELETE `/v1/skills/:id/versions/:version` – deletes a version', deferred: 'C' },
  'skills/file': { section: '12.2 Endpoints', says: 'GET `/v1/skills/:id/files/:filename` – one file\'s bytes', deferred: 'C' },
  'skills/delete': { section: '12.2 Endpoints', says: 'DELETE `/v1/skills/:id` – deletes a skill and its versions', deferred: 'C' },
  'skills/builtin/four': { section: '12.2 Endpoints', says: 'Four skills are built in: `xlsx`, `pdf`, `docx` and `pptx`.', deferred: 'C' },
  'skills/builtin/no-upload': { section: '12.2 Endpoints', says: 'Built-in skills need no upload.', deferred: 'C' },
  'skills/builtin/not-deletable': { section: '12.2 Endpoints', says: 'Deleting a built-in skill is refused.', deferred: 'C' },
  'skills/mounted': { section: '12.2 Endpoints', says: 'A skill\'s files lie at `/home/user/.skills/<name>/`, by its SKILL.md name and not its id.', deferred: 'C' },
  'skills/inlined': { section: '12.2 Endpoints', says: 'At the start of a session the whole SKILL.md body goes into the system prompt, as `<source name="skill:{id}"><skill name="{name}">…</skill></source>`.', deferred: 'C' },
  'skills/not-lazy': { section: '12.2 Endpoints', says: 'Nothing of that body is left to be read later.', deferred: 'C' },
} satisfies Record<string, Requirement>
