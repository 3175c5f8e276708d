import { type Node, parseSync, Visitor } from 'oxc-parser';

/** An import of a module. */
export interface ModuleImport {
  /** The specifier as written (`../errors.ts`, `node:fs`, `koa`); null if it is computed. */
  specifier: string | null;
  /**
   * `type`: erased (`import type`, `export type … from`, `import('…')` as a type); `value`: static; `dynamic`:
   * `import()`, and `require()` from `createRequire` (if it has another name than `require`, its specifier counts as
   * computed); `url`: `new URL('./worker.ts', import.meta.url)`, a module that runs in a worker thread or another
   * process.
   */
  kind: 'type' | 'value' | 'dynamic' | 'url';
  line: number;
}

/** The imports and environment reads of a module, and what it writes for the formatter only. */
export interface ModuleReading {
  imports: ModuleImport[];
  /** Lines that read the process environment. */
  environmentReads: number[];
  /** Lines that spread a literal, whose members would otherwise stand in lines of their own: `...{ a, b }`, `...['a']`. */
  literalSpreads: number[];
}

/**
 * Finds the imports of a TypeScript module, including type-only ones, its reads of `process.env` and its spreads of
 * literals. `import { type A } from` counts as a value import, because Node loads the module for it.
 * @param name its file name, whose ending shows whether it may contain JSX
 * @throws Error if the source is not valid TypeScript
 */
export function readModule(source: string, name = 'module.ts'): ModuleReading {
  const { program, errors } = parseSync(name, source);
  const imports: (ModuleImport & { start: number })[] = [];
  const environmentReads: number[] = [];
  const literalSpreads: number[] = [];
  const lineOf = (offset: number) => source.slice(0, offset).split('\n').length;
  const [first] = errors;
  if (first) throw new Error(`line ${lineOf(first.labels[0]?.start ?? 0)}: ${first.message}`);

  const add = (kind: ModuleImport['kind'], { start }: Node, specifier: string | null) =>
    imports.push({ specifier, kind, line: lineOf(start), start });
  const readsEnvironment = ({ start }: Node) => environmentReads.push(lineOf(start));
  const hasRequire = source.includes('createRequire');

  new Visitor({
    ImportDeclaration(node) {
      add(node.importKind === 'type' ? 'type' : 'value', node, node.source.value);
      const isEnv = (each: (typeof node.specifiers)[number]) =>
        each.type === 'ImportSpecifier' && nameOf(each.imported) === 'env';
      if (/^(node:)?process$/.test(node.source.value) && node.specifiers.some(isEnv)) readsEnvironment(node);
    },
    ExportNamedDeclaration(node) {
      if (node.source) add(node.exportKind === 'type' ? 'type' : 'value', node, node.source.value);
    },
    ExportAllDeclaration: (node) => void add(node.exportKind === 'type' ? 'type' : 'value', node, node.source.value),
    ImportExpression: (node) => void add('dynamic', node, textOf(node.source)),
    TSImportType: (node) => void add('type', node, textOf(node.source)),
    TSImportEqualsDeclaration({ importKind, moduleReference: from }) {
      if (from.type === 'TSExternalModuleReference')
        add(importKind === 'type' ? 'type' : 'value', from, from.expression.value);
    },
    CallExpression(node) {
      const isRequire = hasRequire && (isNamed(node.callee, 'require') || createsRequire(node.callee));
      if (isRequire) add('dynamic', node, textOf(node.arguments[0]));
    },
    NewExpression(node) {
      const [address, base] = node.arguments;
      const specifier = textOf(address);
      if (!isNamed(node.callee, 'URL') || specifier === null || !/\.[cm]?[jt]s$/.test(specifier)) return;
      if (base && source.slice(base.start, base.end) === 'import.meta.url') add('url', node, specifier);
    },
    MemberExpression(node) {
      const isProcess =
        isNamed(node.object, 'process') || /\bprocess$/.test(source.slice(node.object.start, node.object.end));
      const property = node.computed ? textOf(node.property) : nameOf(node.property);
      if (isProcess && property === 'env') readsEnvironment(node);
    },
    VariableDeclarator(node) {
      if (node.init && createsRequire(node.init) && !isNamed(node.id, 'require')) add('dynamic', node, null);
      if (node.id.type !== 'ObjectPattern' || !node.init || !isNamed(node.init, 'process')) return;
      const names = node.id.properties.map((each) => (each.type === 'Property' ? nameOf(each.key) : null));
      if (names.includes('env')) readsEnvironment(node);
    },
    SpreadElement({ argument, start }) {
      if (isLiteral(argument)) literalSpreads.push(lineOf(start));
    },
  }).visit(program);
  imports.sort((a, b) => a.start - b.start);
  return {
    imports: imports.map(({ start: _start, ...found }) => found),
    environmentReads,
    literalSpreads,
  };
}

/** Whether an expression is an object or an array as written here, also `as const`; a cast to another type has a purpose. */
function isLiteral(node: Node): boolean {
  if (node.type === 'ParenthesizedExpression') return isLiteral(node.expression);
  if (node.type !== 'TSAsExpression') return node.type === 'ObjectExpression' || node.type === 'ArrayExpression';
  const { typeAnnotation: type } = node;
  return type.type === 'TSTypeReference' && isNamed(type.typeName, 'const') && isLiteral(node.expression);
}

function isNamed(node: Node, name: string): boolean {
  return node.type === 'Identifier' && node.name === name;
}

function createsRequire(node: Node): boolean {
  return node.type === 'CallExpression' && isNamed(node.callee, 'createRequire');
}

function nameOf(node: Node): string | null {
  return node.type === 'Identifier' ? node.name : textOf(node);
}

/** Returns the value of a string literal, or of a template without substitutions; null for any other node. */
function textOf(node: Node | undefined): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  return node?.type === 'TemplateLiteral' && node.expressions.length === 0
    ? (node.quasis[0]?.value.cooked ?? null)
    : null;
}
