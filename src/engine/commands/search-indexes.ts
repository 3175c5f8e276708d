import { CommandError } from '../errors.ts';
import type { Command } from './command.ts';

/** The error for search index commands and stages. Every MongoDB server except Atlas returns it. */
export function searchNotEnabled(): CommandError {
  return new CommandError(
    'SearchNotEnabled',
    'Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional configuration: they work on Atlas only.',
  );
}

const unavailable: Command = {
  options: ['indexes', 'id', 'name', 'definition', 'type'],
  run: () => {
    throw searchNotEnabled();
  },
};

export const createSearchIndexes: Command = unavailable;
export const updateSearchIndex: Command = unavailable;
export const dropSearchIndex: Command = unavailable;
