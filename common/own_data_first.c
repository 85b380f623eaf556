/* Linked before the labs' objects: their static data comes after these two (own_data.h). */
extern char own_data_first[], own_zero_first[];

char own_data_first[1] = {1};
char own_zero_first[1];
